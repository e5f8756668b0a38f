import {
  agent,
  Conversation,
  defineComponent,
  scripted,
  standardSystems,
  type System,
  textOf,
  type ToolDeclaration,
  World,
} from 'entia'
import { Effect, Outcome, OwnedBy, Pending, Requested, ToolCall } from 'entia/components'
import { defineWorldTool } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type FaultRates, simulate, simulatedUser, type SimulateOptions } from '../../src/sim/index.ts'
import { allFaults } from './busy-team.ts'

const description = 'Says how many there are.'
const input = z.object({ of: z.string() })
const said = (text: string) => Outcome({ ok: true, value: { content: [{ type: 'text', text }] } })

/** A world whose agent counts two things at once, and whose calls the program answers itself. */
function counting(tool: { readonly declaration: ToolDeclaration }, systems: () => System[]): SimulateOptions {
  return {
    models: {
      clerk: scripted(({ messages }) => {
        const results = messages.filter(({ role }) => role === 'tool').map((message) => textOf(message))
        if (results.length > 0) return results.join(', ')
        return { toolCalls: ['pears', 'plums'].map((of) => ({ name: 'count', arguments: { of } })) }
      }),
    },
    world(seed) {
      const world = new World({ name: 'shop', seed, systems: systems() })
      world.spawn(...agent({ model: 'clerk/x', tools: [tool], messages: 'Count.' }))
      return world
    },
    components: [Lookup],
  }
}

/** Where a call is looked up that is answered later. */
const Lookup = defineComponent('Lookup', z.strictObject({ call: z.int(), of: z.string() }))

/** Answers calls of `count` before `toolExecution` sees them, without a tool on the Host. */
function answering(answer: (world: World, call: number) => void): System {
  return {
    name: 'counting',
    priority: 4,
    wakes: [[Requested, ToolCall]],
    run(world) {
      for (const call of world.query(ToolCall, Requested)) {
        if (world.read(call, ToolCall).name !== 'count') continue
        world.remove(call, Requested)
        answer(world, call)
        world.requestTick()
      }
    },
  }
}

const declared: { readonly declaration: ToolDeclaration } = {
  declaration: {
    name: 'count',
    description,
    inputSchema: z.toJSONSchema(input) as ToolDeclaration['inputSchema'],
    restart: 'pure',
    world: true,
  },
}

/** Of `defineWorldTool`: looks a second of world time, and answers then. */
const slow: Parameters<typeof defineWorldTool<typeof input>>[0] = {
  name: 'count',
  description,
  input,
  run(world, { of }, { call }) {
    const deadlineMs = world.nowMs + 1_000
    world.spawn(
      Lookup({ call, of }),
      OwnedBy({ agent: world.read(call, OwnedBy).agent }),
      Effect({ attempt: 1, deadlineMs, kind: 'timer', restart: 'pure' }),
      Pending,
    )
    return undefined
  },
}
const slowly = defineWorldTool(slow)
const asking = defineWorldTool({ ...slow, approval: true })
/** Leaves its calls to a system that is not there. */
const forgetting = defineWorldTool({ name: 'count', description, input, run: () => undefined })
const lookingUp: System = {
  name: 'looking-up',
  priority: 6,
  wakes: [[Lookup, Outcome]],
  run(world) {
    for (const lookup of world.query(Lookup, Outcome)) {
      const { call, of } = world.read(lookup, Lookup)
      if (world.exists(call)) world.add(call, said(`7 ${of}`))
      world.despawn(lookup)
      world.requestTick()
    }
  },
}

const ownTools: readonly (readonly [string, SimulateOptions])[] = [
  [
    'by a system in the tick of the call',
    counting(declared, () => [
      ...standardSystems(),
      answering((world, call) => {
        const asked = input.safeParse(world.read(call, ToolCall).arguments)
        world.add(call, said(`7 ${asked.data?.of}`))
      }),
    ]),
  ],
  ['by a system in a later tick', counting(slowly, () => [...standardSystems({ worldTools: [slowly] }), lookingUp])],
  [
    'by a system in a tick behind that in which a person agreed',
    {
      ...counting(asking, () => [...standardSystems({ worldTools: [asking] }), lookingUp]),
      users: { ann: simulatedUser((seen) => (seen.type === 'approval-requested' ? { approve: true } : undefined)) },
    },
  ],
]

describe('a tool that the program answers', () => {
  it.each(ownTools)('%s keeps all laws, whatever goes wrong', async (_, options) => {
    const violations: unknown[] = []
    const answers = new Set<string>()
    for (let seed = 1; seed <= 20; seed++) {
      const { violation, world } = await simulate({ ...options, faults: allFaults satisfies FaultRates, seed })
      if (violation !== undefined) violations.push({ seed, ...violation })
      answers.add(textOf(world.read(1, Conversation).at(-1)))
    }
    expect(violations).toEqual([])
    expect(answers).toContain('7 pears, 7 plums')
  })

  it.each<[string, SimulateOptions]>([
    [
      'a system that takes the call and forgets it',
      counting(declared, () => [...standardSystems(), answering(() => undefined)]),
    ],
    ['a system that is not there', counting(forgetting, () => standardSystems({ worldTools: [forgetting] }))],
  ])('waits in vain for %s', async (_, options) => {
    const { violation } = await simulate({ ...options, seed: 1 })
    expect(violation).toMatchObject({ law: 'nothing-waits-in-vain', message: expect.stringContaining("'count'") })
  })
})
