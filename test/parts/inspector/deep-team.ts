import {
  agent,
  defineTool,
  Runner,
  scripted,
  SessionPool,
  standardSystems,
  SubagentRegistry,
  type Store,
  textOf,
  World,
} from '../../../src/index.ts'
import { z } from 'zod'

/** A team in which the lead asks a manager, who asks a foreman, who asks a builder, whose tool needs a person's yes. */
export interface DeepTeam {
  readonly runner: Runner
  /** What the tool has done, in order. */
  readonly deployed: readonly string[]
  /** What the builder's model has read of its calls. */
  readonly read: readonly string[]
}

const below: Readonly<Record<string, string | undefined>> = { lead: 'manager', manager: 'foreman', foreman: 'builder' }

/** Started, until all wait for a person. */
export async function deepTeam(options: { readonly store?: Store; readonly calls?: number } = {}): Promise<DeepTeam> {
  const { calls = 1, store } = options
  const deployed: string[] = []
  const read: string[] = []
  const deploy = defineTool({
    name: 'deploy',
    description: 'Deploys to a place.',
    input: z.object({ place: z.string(), notes: z.string().optional() }),
    restart: 'once',
    approval: true,
    approvalTimeoutMs: 3_600_000,
    run: ({ place }) => {
      deployed.push(place)
      return 'deployed'
    },
  })
  const model = (name: string) =>
    scripted(({ messages }) => {
      const results = [...messages].filter(({ role }) => role === 'tool')
      const next = below[name]
      if (next !== undefined) {
        if (results.length > 0) return 'All done.'
        return { toolCalls: [{ name: 'subagent', arguments: { category: next, prompt: `Deploy, ${next}.` } }] }
      }
      read.push(...results.map((result) => textOf(result)))
      if (results.length >= calls) return 'I have tried.'
      const notes = 'Version 1.4.2: the queue is bounded, and a lost connection is taken up again.'
      return { toolCalls: [{ name: 'deploy', arguments: { place: `production ${results.length + 1}`, notes } }] }
    })
  const names = ['lead', 'manager', 'foreman', 'builder']
  const world = new World({ name: 'shipping', seed: 5, systems: standardSystems() })
  const subagents = Object.fromEntries(
    names
      .slice(1)
      .map((name) => [
        name,
        { name, model: `${name}/x`, tools: ['deploy'], inheritancePolicy: { inheritTools: ['subagent'] } },
      ]),
  )
  world.spawn(...agent({ model: 'lead/x', tools: [deploy], messages: 'Ship it.' }), SubagentRegistry({ subagents }))
  const runner = new Runner(world, {
    models: Object.fromEntries(names.map((name) => [name, model(name)])),
    tools: [deploy],
    approve: 'by-input',
    sessionPool: new SessionPool(),
    ...(store !== undefined && { store, record: true }),
  })
  const asked = new Promise<void>((resolve) => void runner.on('approval-requested', () => resolve()))
  await runner.start()
  await asked
  return { runner, deployed, read }
}
