import { agent, defineTool, Limits, scripted, standardSystems, type Tool, World } from 'entia'
import { law, service, type ServiceCaller, simulatedUser, type SimulateOptions, standardLaws } from 'entia/sim'
import { z } from 'zod'
import { everyFault } from './every-fault.ts'
import { calls, spoken } from './spoken.ts'

/** What surveys have come to, by number: how many of their two parts have ended, and which went on behind these. */
const field = service(
  () => ({ begun: [] as string[], ended: new Map<number, number>(), whole: new Set<number>() }),
  ({ request, key }: { readonly request: Step; readonly key: string }, { begun, ended, whole }) => {
    if (request.what === 'begins') return begun.push(key)
    const { number, what } = request
    if (what === 'goes on') return whole.add(number).size
    ended.set(number, (ended.get(number) ?? 0) + 1)
    return number
  },
  { latencyMs: [0, 0] },
)
type Step = { readonly what: 'begins' } | { readonly what: 'part-ends' | 'goes on'; readonly number: number }
type Field = { call(step: Step, caller: ServiceCaller): Promise<number> }

const survey = {
  name: 'survey',
  description: 'Surveys two places at once, and then a third.',
  input: z.object({ firstMs: z.number(), secondMs: z.number(), thirdMs: z.number() }),
  restart: 'pure',
  timeoutMs: 9_000,
} as const

function tools(own: Field): Tool[] {
  return [
    defineTool({
      ...survey,
      run: async ({ firstMs, secondMs, thirdMs }, context) => {
        const number = await own.call({ what: 'begins' }, context)
        const part = async (durationMs: number): Promise<void> => {
          try {
            await context.sleep(durationMs)
          } finally {
            await own.call({ what: 'part-ends', number }, context)
          }
        }
        const both = await Promise.allSettled([part(firstMs), part(secondMs)])
        await own.call({ what: 'goes on', number }, context)
        const broken = both.find(({ status }) => status === 'rejected')
        if (broken?.status === 'rejected') throw broken.reason
        await context.sleep(thirdMs)
        return 'surveyed'
      },
    }),
  ]
}

type States = { field: { readonly ended: ReadonlyMap<number, number>; readonly whole: ReadonlySet<number> } }

const bothEnd = law<States>('a survey goes on once both of its sleeps have ended', {
  ticked: ({ services: { field: seen } }) => {
    const odd = [...seen.whole].find((number) => seen.ended.get(number) !== 2)
    return odd === undefined || `survey ${odd} went on after ${seen.ended.get(odd) ?? 0} of 2 sleeps`
  },
})

/** Tools that sleep in two places at once, and once more behind them, while their users stop them and their time runs out. */
export default {
  services: { field },
  tools: ({ field: own }) => tools(own),
  models: {
    walker: scripted((request) => {
      const at = spoken(request) % 4
      if (at === 3) return 'Walked.'
      const survey = (firstMs: number, secondMs: number) =>
        ['survey', { firstMs, secondMs, thirdMs: 1_000 * at }] as const
      return calls(survey(2_000, 2_000 + at), survey(500 * at, 7_500), survey(4_000, 1))
    }),
  },
  world(seed) {
    const world = new World({ name: 'walk', seed, systems: standardSystems() })
    const declared = tools({ call: () => Promise.reject(new Error('There is no field.')) })
    for (const task of ['north', 'south']) {
      world.spawn(...agent({ model: 'walker/x', tools: declared, messages: task }), Limits({ maxSteps: 30 }))
    }
    return world
  },
  users: {
    ann: simulatedUser(
      (seen) => {
        if (!('tick' in seen) || !('agent' in seen) || typeof seen.agent !== 'number' || seen.tick > 40)
          return undefined
        const { agent: walker, tick, type } = seen
        if (type === 'tool-called' && tick % 3 === 0) return { stopStep: walker }
        if (type === 'tool-called' && tick % 7 === 0) return { cancel: walker }
        const isOver = type === 'step-stopped' || type === 'turn-ended'
        return isOver ? { say: `Again, after ${tick}.`, to: walker } : undefined
      },
      { reactionMs: [0, 8_000] },
    ),
  },
  faults: everyFault,
  laws: [...standardLaws, bothEnd],
} satisfies SimulateOptions<{ field: typeof field }>
