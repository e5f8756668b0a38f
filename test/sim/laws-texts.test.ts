import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textsWellFormed } from '../../src/sim/laws/texts-well-formed.ts'
import { defineComponent, defineLog } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { underLaw, worldOf } from './law-under-test.ts'

const Note = defineComponent('LawNote', z.object({ text: z.string() }))
const Lines = defineLog('LawLines', z.object({ by: z.record(z.string(), z.string()) }))

const half = '\ud83d'
const writes = (text: string) => (world: World) => void world.spawn(Note({ text }))
const appends = (key: string) => (world: World) => void world.spawn(Lines([{ by: { [key]: 'said' } }]))

describe('texts-well-formed', () => {
  it('has nothing to say of whole characters', () => {
    const law = underLaw(textsWellFormed, worldOf(writes('👋'), appends('👋')))
    expect([law.tick(), law.tick()]).toEqual([undefined, undefined])
  })

  it('is broken by half a surrogate pair in a key, which a write leaves as it is', () => {
    const law = underLaw(textsWellFormed, worldOf(writes(half), appends(half)))
    expect([law.tick(), law.tick()]).toEqual([
      undefined,
      String.raw`LawLines of entity 2 has half a surrogate pair in "\ud83d"`,
    ])
  })
})
