import { type Entity, Host, type Runner, standardSystems, VirtualClock, World } from 'entia'
import { Effect, Outcome, OwnedBy, Pending, Running } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { addAgent, behaving, driven } from '../../behaviour/turns/driving.ts'

declare module 'entia' {
  interface OwnInputs {
    works: { readonly agent: Entity; readonly count: number }
    again: { readonly effect: Entity }
    dropped: { readonly effects: readonly Entity[] }
  }
}

const once = { kind: 'work', restart: 'once' } as const

/** Effects of class `once`, which an agent owns, in a line that takes one at a time. */
const works = {
  name: 'works',
  priority: -101,
  inputs: ['works', 'again', 'dropped'] as const,
  run(world: World): void {
    for (const input of world.inputs) {
      if (input.kind === 'works') {
        for (let count = 0; count < (input['count'] as number); count++)
          world.spawn(OwnedBy({ agent: input['agent'] as Entity }), Effect({ attempt: 1, ...once }), Pending)
      } else if (input.kind === 'again') {
        const effect = input['effect'] as Entity
        for (const mark of [Pending, Running, Outcome]) world.remove(effect, mark)
        world.set(effect, Effect, { attempt: world.read(effect, Effect).attempt + 1, ...once })
        world.add(effect, Pending)
      } else if (input.kind === 'dropped') for (const effect of input['effects'] as Entity[]) world.despawn(effect)
    }
    for (const effect of world.query(Outcome, OwnedBy)) world.despawn(effect)
  },
}

/** @param prepared called right after the commit, when an effect is about to ask to be admitted */
function line(prepared: (runner: Runner, effect: Entity) => void) {
  const world = new World({ systems: [...standardSystems(), works] })
  const agent = addAgent(world, { messages: [] })
  const begun: string[] = []
  const host = new Host({
    clock: new VirtualClock(),
    models: behaving(() => 'Hi').models,
    maxInFlightPerProvider: { line: 1 },
    effects: {
      work: {
        queue: () => 'line',
        prepare: (_, effect) => {
          prepared(made.runner, effect)
          return ({ attempt }) => {
            begun.push(`${effect}/${attempt}`)
            return { ok: true, value: null }
          }
        },
      },
    },
  })
  const made = driven(world, { host })
  return { agent, begun, ...made }
}

/** What a test does about the first effect that is prepared. */
function atFirst(act: (runner: Runner, effect: Entity) => unknown): (runner: Runner, effect: Entity) => void {
  let isFirst = true
  return (runner, effect) => {
    if (isFirst) void act(runner, effect)
    isFirst = false
  }
}

describe('an effect of class once in a line with one slot', () => {
  it('that is dropped in the tick of its admission, with others behind it, lets the last one begin', async () => {
    const { agent, begun, runner, world } = line(
      atFirst((driver, effect) => driver.post({ kind: 'dropped', effects: [effect, effect + 1, effect + 2] })),
    )
    await runner.start()
    await runner.post({ kind: 'works', agent, count: 4 })
    const last = world.query(Effect, Pending).at(-1)
    await runner.idle()
    expect(begun).toEqual([`${last}/1`])
    await runner.post({ kind: 'works', agent, count: 1 })
    await runner.idle()
    expect(begun).toHaveLength(2)
  })

  it('that begins anew before it was admitted gives its slot back, and takes one again', async () => {
    const { agent, begun, runner, world } = line(atFirst((driver, effect) => driver.post({ kind: 'again', effect })))
    await runner.start()
    await runner.post({ kind: 'works', agent, count: 2 })
    const [first, second] = world.query(Effect, Pending)
    await runner.idle()
    expect(begun).toEqual([`${second}/1`, `${first}/2`])
  })

  it('begins, and is not cancelled, where its agent is cancelled while it has no turn', async () => {
    const cancels = atFirst((driver) => driver.post({ kind: 'cancel', agent: 1 }))
    const { agent, begun, runner, world } = line(cancels)
    expect(agent).toBe(1)
    await runner.start()
    await runner.post({ kind: 'works', agent, count: 2 })
    const effects = world.query(Effect, Pending)
    await runner.idle()
    expect(begun).toEqual(effects.map((effect) => `${effect}/1`))
  })
})
