import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textsWellFormed } from '../../src/sim/laws/texts-well-formed.ts'
import { defineComponent } from '../../src/world/component.ts'
import { tick } from '../../src/world/tick.ts'
import { run, underLaw, watched, watchedTick, worldOf } from './law-under-test.ts'

const Note = defineComponent('LawNote', z.record(z.string(), z.string()))

/** What the law says of a tick whose changes hold this, as a world that lets it through would have them. */
function lawOf(value: { readonly [key: string]: string }) {
  const world = worldOf()
  const { again, delta, events, inputs } = tick(world, [])
  const slipped = { ...delta, set: { LawNote: [[2, value] as const] } }
  return textsWellFormed.watch(run()).ticked?.(watchedTick(watched(world), { again, delta: slipped, events, inputs }))
}

describe('texts-well-formed', () => {
  it('has nothing to say of what is written to a world', () => {
    const law = underLaw(
      textsWellFormed,
      worldOf((world) => world.spawn(Note({ '\ud83d': '\ud83d 👋' }))),
    )
    expect(law.tick()).toBeUndefined()
  })

  it('is broken by half a surrogate pair in a text, and in a key', () => {
    expect(lawOf({ said: '👋' })).toBeUndefined()
    const said = String.raw`LawNote of entity 2 has half a surrogate pair in "\ud83d"`
    expect([lawOf({ said: '\ud83d' }), lawOf({ '\ud83d': 'said' })]).toEqual([said, said])
  })
})
