import { expect } from 'vitest'
import { z } from 'zod'
import { defineComponent, defineLog, defineTag } from '../../src/world/component.ts'
import type { EntiaErrorCode } from '../../src/base/entia-error.ts'
import type { Input } from '../../src/world/input.ts'
import type { System } from '../../src/world/world.ts'

/** Components of every kind, about people: what the tests of the world are told with. */
export const Person = defineComponent(
  'Person',
  z.strictObject({ name: z.string(), age: z.number().optional(), about: z.record(z.string(), z.unknown()).optional() }),
)
/** There is something new in a diary. */
export const Fresh = defineTag('Fresh')
export const Diary = defineLog('Diary', z.strictObject({ text: z.string(), secret: z.boolean().optional() }), {
  marks: { tag: Fresh, when: (last) => last.secret !== true },
})
export const Asleep = defineTag('Asleep')
/** Goes with its parent. */
export const ChildOf = defineComponent('ChildOf', z.strictObject({ parent: z.number() }), {
  ref: 'parent',
  cascade: true,
})
/** Ends when the other is gone. */
export const Likes = defineComponent('Likes', z.strictObject({ whom: z.number(), since: z.number().optional() }), {
  ref: 'whom',
})

export const family = [Person, Fresh, Diary, Asleep, ChildOf, Likes]

/** An entry of a diary. */
export function entry(text: string): { text: string } {
  return { text }
}

/** A system that does this each tick. */
export function doing(run: System['run'], name = 'doing', priority = 0): System {
  return { name, priority, run }
}

export function input(kind: string, data: Record<string, string | number> = {}): Input {
  return { kind, ...data }
}

/** What a refusal looks like: an `EntiaError` of this code whose message holds all of these. */
export function refusal(code: EntiaErrorCode, ...parts: readonly string[]): Error {
  const pattern = new RegExp(
    parts.map((part) => `(?=.*${part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)})`).join(''),
    's',
  )
  return expect.objectContaining({ name: 'EntiaError', code, message: expect.stringMatching(pattern) }) as Error
}
