import {
  agent,
  defineTool,
  type ModelRequest,
  run,
  scripted,
  SessionPool,
  standardSystems,
  SubagentRegistry,
  VirtualClock,
  World,
} from 'entia'
import { simulate, sweep } from 'entia/sim'
import { z } from 'zod'
import { compare, median } from './measure.ts'
import { readable, type Row } from './row.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks somewhere.',
  input: z.object({ at: z.number() }),
  restart: 'pure',
  run: ({ at }) => `nothing at ${at}`,
})

function spoken({ messages }: ModelRequest): number {
  return messages.filter(({ role }) => role === 'assistant').length
}

function call(name: string, input: object) {
  return { name, arguments: input as never }
}

const three = [1, 2, 3]
const models = {
  /** 5 steps: launches three sessions, sleeps until they are back, reads what they found, looks, answers. */
  lead: scripted((request) => {
    switch (spoken(request)) {
      case 0:
        return {
          toolCalls: three.map((n) => call('subagent', { category: 'scout', prompt: `task ${n}`, background: true })),
        }
      case 1:
        return { toolCalls: [call('subagent_wait', { mode: 'all' })] }
      case 2:
        return { toolCalls: three.map((n) => call('subagent_result', { session_id: `${n}`, read_method: 'summary' })) }
      case 3:
        return { toolCalls: [call('look', { at: 0 })] }
      default:
        return 'All is quiet.'
    }
  }),
  /** 5 steps, 4 of them with a tool call. */
  scout: scripted((request) => {
    const at = spoken(request)
    return at < 4 ? { toolCalls: [{ name: 'look', arguments: { at } }] } : 'Nothing there.'
  }),
}

function world(seed: number): World {
  const made = new World({ name: 'story', seed, systems: standardSystems() })
  const scout = { name: 'scout', model: 'scout/x', tools: ['look'] }
  made.spawn(...agent({ model: 'lead/x', messages: 'Go', tools: [look] }), SubagentRegistry({ subagents: { scout } }))
  return made
}

const story = { world, models, tools: [look] }
const seeds = 300

/** Runs of a story with 1 parent, 3 sessions and 20 model steps, on one core. */
export async function measure(): Promise<Row[]> {
  const runs = async (options: object): Promise<void> => {
    const { ok, failure } = await sweep({ ...story, ...options, seeds })
    if (!ok) throw new Error(failure?.report)
  }
  const { cpuMicros: lawful } = await compare({
    rounds: 7,
    warmUp: 4,
    work: () => runs({}),
    against: async () => {
      for (let seed = 1; seed <= seeds; seed++) await driven(seed)
    },
  })
  const { cpuMicros: faulty } = await compare({
    rounds: 3,
    warmUp: 1,
    work: () => runs({ faults }),
    against: () => runs({ laws: [] }),
  })
  const { checks } = await simulate(story)
  return [
    {
      name: 'simulated runs of 1 parent, 3 sessions and 20 model steps, laws on',
      value: perSecond(lawful.work),
      unit: 'a CPU second',
      limit: 300,
      atLeast: true,
      against: `the same driven without simulator: ${readable(perSecond(lawful.against))}`,
    },
    {
      name: `the same with crashes and other faults, in a store`,
      value: perSecond(faulty.work),
      unit: 'a CPU second',
      against: `without faults and laws: ${readable(perSecond(faulty.against))}`,
    },
    { name: 'questions to laws in such a run', value: checks, unit: '' },
  ]
}

const faults = {
  model: { overloaded: 0.03, truncated: 0.02, unknownTool: 0.02 },
  tool: { throws: 0.05, slow: 0.05 },
  delivery: { duplicated: 0.03, late: 0.03, reordered: 0.03 },
  crash: { perTick: 0.01 },
}

async function driven(seed: number): Promise<void> {
  await run(world(seed), { models, tools: [look], sessionPool: new SessionPool(), clock: new VirtualClock() })
}

/** Runs in a second of one core: what collector and compiler do on other threads counts as well. */
function perSecond(cpuMicros: readonly number[]): number {
  return (seeds / median(cpuMicros)) * 1e6
}
