import { agent, defineTool, Limits, scripted, standardSystems, World } from 'entia'
import { law, type Law, simulatedUser, setIn, type SimulateOptions, standardLaws } from 'entia/sim'
import { Ledger, Subtask, SubtaskAccount, SubtaskCount } from 'entia/components'
import { z } from 'zod'
import { everyFault } from './every-fault.ts'
import { calls, spoken } from './spoken.ts'

const path = z.object({ path: z.string().optional() })
const reading = { description: 'Looks.', input: path, restart: 'pure' } as const
const tools = [
  defineTool({ ...reading, name: 'read_file', run: ({ path: at = 'here' }) => `SECRET of ${at}` }),
  defineTool({ ...reading, name: 'grep_files', run: () => 'a match' }),
  defineTool({ ...reading, name: 'list_files', restart: 'keyed', run: () => 'a file' }),
  defineTool({ ...reading, name: 'fetch_url', restart: 'once', approval: true, run: () => 'a page' }),
]

const asked = (request: string) => ({ request })

const noneIsLeft = law('what a subtask spends is told to the last of it', {
  finished: ({ worlds }) =>
    [...worlds.values()].every(({ world }) =>
      [Subtask, SubtaskAccount].every((token) => world.query(token).length === 0),
    ),
})

type Spending = { readonly models: Readonly<Record<string, { readonly input?: number | undefined }>> }

const inputOf = ({ models }: Spending = { models: {} }): number => models['small/y']?.input ?? 0

const spentIn = (world: World): number => {
  const [agent = 0] = world.query(Ledger)
  return inputOf(world.get(agent, Ledger))
}

/** What was spent in ticks that were never committed may count, and may be forgotten with its process. */
const allIsCharged: Law = {
  name: 'what subtasks have spent stands in the ledger',
  meaning: 'What subtasks have spent is charged to their agent, and once.',
  watch() {
    const committed = new Map<string, number>()
    return {
      began({ label, path: above, world }) {
        if (above.length > 0) committed.set(label, spentIn(world))
      },
      ticked(tick) {
        if (tick.path.length === 0) return
        for (const [, ledger] of setIn(tick, Ledger)) committed.set(tick.label, inputOf(ledger))
      },
      finished(worlds) {
        const all = [...worlds.values()].map(({ world }) => world)
        const root = all.find(({ name }) => name === 'readers')
        const [lead] = root?.query(SubtaskCount) ?? []
        if (root === undefined || lead === undefined) return undefined
        const sum = (parts: Iterable<number>): number => [...parts].reduce((one, other) => one + other, 0)
        const least = sum(committed.values())
        const most = sum(all.filter((world) => world !== root).map(spentIn))
        const { inputTokens } = root.read(lead, SubtaskCount)
        const charged = spentIn(root)
        if (least <= charged && charged <= most && inputTokens === charged) return undefined
        return `they have spent ${least} to ${most}, charged were ${charged}, counted ${inputTokens}`
      },
    }
  },
}

/** An agent that has its reading done in subtasks, some of which ask a user, and a program that runs others beside it. */
export default {
  tools,
  models: {
    lead: scripted((request) => {
      const count = spoken(request)
      if (count % 4 === 0) {
        return calls(
          ['agentic_fetch_url', asked('https://here')],
          ['read_file', { path: `${count}` }],
          ['agentic_grep', asked('Where?')],
        )
      }
      if (count % 4 === 1) return calls(['agentic_research', asked('What?')], ['agentic_read_file', asked('Which?')])
      return 'All is read.'
    }),
    small: scripted(
      (request) => {
        const names = request.tools.map(({ name }) => name)
        return spoken(request) < names.length ? calls(...names.map((name) => [name, {}] as const)) : 'A digest.'
      },
      { latencyMs: [50, 30_000], usage: { input: 100, output: 7 } },
    ),
  },
  prices: { 'small/y': { input: 10, output: 0 }, 'lead/x': { input: 0, output: 0 } },
  users: {
    owner: simulatedUser((seen) => {
      if (seen.type === 'turn-error' && seen.tick < 40 && !('path' in seen)) {
        return { resetCostCeiling: 1, addSessionUsd: 0.01 }
      }
      if (seen.type === 'turn-ended' && seen.tick < 10 && seen.path === undefined) return { say: 'Once more.' }
      return seen.type === 'approval-requested' ? { approve: seen.tick % 4 !== 0 } : undefined
    }),
  },
  world(seed) {
    const world = new World({ name: 'readers', seed, systems: standardSystems() })
    const context = {
      agentic: { small_model: 'small/y' },
      checkpoint: { enabled: false },
      compaction: { enabled: false },
    }
    // A tenth of a cent a call: every now and then it is met.
    const ceilings = { max_session_cost_usd: 0.012, max_turn_cost_usd: 0.01 }
    const lead = world.spawn(
      ...agent({ model: 'lead/x', tools, messages: 'Read all.', config: { context, ceilings } }),
      Limits({ maxSteps: 30 }),
    )
    const program = { kind: 'subtask', agent: lead, model: 'small/y', systemPrompt: 'You read.', userMessage: 'Read.' }
    const short = { ...program, maxSteps: 1, timeoutMs: 60_000, tools: ['read_file'] }
    world.post({ ...short, name: 'short', request: 'short' })
    world.post({ ...short, maxSteps: 5, timeoutMs: 5_000, name: 'late', request: 'late' })
    return world
  },
  faults: everyFault,
  laws: [...standardLaws, noneIsLeft, allIsCharged],
} satisfies SimulateOptions
