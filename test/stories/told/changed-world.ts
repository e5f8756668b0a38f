import { agent, Conversation, Limits, Llm, scripted, standardSystems, SystemPrompt, textOf, World } from 'entia'
import { type Law, simulatedUser, type SimulateOptions, standardLaws } from 'entia/sim'
import { everyFault } from './every-fault.ts'
import { calls } from './spoken.ts'
import { look } from './team.ts'

/** A program goes on for so long. */
const maxTick = 24

const rules = ['You look around.', 'You look around, and quickly.', 'You look around. Be thorough.']

/** What a program does at a tick: nothing is left of a change that throws. */
function changed(world: World, tick: number): void {
  world.patch(1, SystemPrompt, { template: rules[tick % rules.length] ?? '' })
  if (tick % 3 === 0) throw new Error('On second thoughts, no.')
  if (tick % 3 === 1) world.set(1, Limits, { maxSteps: 20 + tick })
  else world.patch(1, Llm, { temperature: (tick % 10) / 10 })
}

/** What the program says about an event. */
function orderOf(event: { readonly type: string; readonly tick: number; readonly index: number }): string | undefined {
  const { index, tick, type } = event
  if (tick > maxTick || (type !== 'tool-called' && type !== 'turn-ended')) return undefined
  return `Order ${tick}.${index}.`
}

const ordersArrive: Law = {
  name: 'every order arrives once',
  meaning: 'What a program says about what it sees stands in the conversation, whatever crashes and whatever throws.',
  watch() {
    const given = new Set<string>()
    return {
      ticked({ step, world: { tick } }) {
        for (const [index, { type }] of step.events.entries()) {
          const order = orderOf({ index, tick, type })
          if (order !== undefined) given.add(order)
        }
        return undefined
      },
      finished(worlds) {
        const [office] = worlds.values()
        const said = [...(office?.world.read(1, Conversation) ?? [])].map((message) => textOf(message))
        const odd = [...given].find((order) => said.filter((text) => text === order).length !== 1)
        return odd && `'${odd}' stands ${said.filter((text) => text === odd).length} times in the conversation`
      },
    }
  },
}

/** An agent whose program changes its world as it works, speaks to it at the same moment, and now and then thinks better of it. */
export default {
  tools: [look],
  models: {
    looker: scripted(({ messages }) => {
      const from = [...messages].findLastIndex(({ role }) => role === 'user')
      return messages.length - from < 3 ? calls(['look', {}], ['look', { at: 'home' }]) : 'Seen.'
    }),
  },
  world(seed) {
    const world = new World({ name: 'changes', seed, systems: standardSystems() })
    world.spawn(
      ...agent({ model: 'looker/x', system: rules[0] ?? '', tools: [look], messages: 'Look.' }),
      Limits({ maxSteps: 20 }),
    )
    return world
  },
  users: {
    program: simulatedUser(
      (seen) => {
        if (!('tick' in seen && 'index' in seen) || seen.tick > maxTick) return undefined
        const { tick } = seen
        if (seen.type === 'model-called' && tick % 2 === 0) return { change: (world) => changed(world, tick) }
        const order = orderOf(seen)
        return order === undefined ? undefined : [{ change: (world) => changed(world, tick) }, { say: order, to: 1 }]
      },
      { reactionMs: [0, 0] },
    ),
    owner: simulatedUser((seen) => {
      if (seen.type !== 'turn-ended' || seen.tick > maxTick) return undefined
      return { change: (world) => changed(world, seen.tick + 1) }
    }),
  },
  faults: everyFault,
  laws: [...standardLaws, ordersArrive],
} satisfies SimulateOptions
