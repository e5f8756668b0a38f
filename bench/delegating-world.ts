import {
  agent,
  type Entity,
  type Message,
  type ModelProvider,
  Runner,
  type RunnerOptions,
  SessionPool,
  standardSystems,
  SubagentRegistry,
  type Subagents,
  World,
} from 'entia'
import { DelegationLimits } from 'entia/components'
import { fakeModel, lookUpTool, provider } from './bare-loop.ts'

export interface DelegatingWorldOptions extends RunnerOptions {
  /** The model of lead and workers. @default answers at once */
  readonly model?: ModelProvider
  /** Of the lead. @default none */
  readonly messages?: readonly Message[]
}

export interface DelegatingWorld {
  readonly runner: Runner
  readonly lead: Entity
  readonly sessions: Subagents
  /** Launches so many sessions at once. Resolves when all of them are launched. */
  readonly launch: (count: number) => Promise<void>
  /** The same, and waits until all of them have ended. */
  readonly wave: (count: number) => Promise<void>
}

/** A running world with an agent that a program launches sessions for. They have a pool of their own, of the usual cap. */
export async function delegatingWorld(options: DelegatingWorldOptions = {}): Promise<DelegatingWorld> {
  const { model = provider(fakeModel(0)), messages = [], ...given } = options
  const world = new World({ systems: standardSystems() })
  const systemPrompt = 'You keep the book of the lighthouse.'
  const lead = world.spawn(
    ...agent({ model: 'fake/model', tools: [lookUpTool], messages }),
    SubagentRegistry({ subagents: { keeper: { name: 'keeper', systemPrompt, tools: ['look_up'], maxSteps: 20 } } }),
    DelegationLimits({ sessions: 1_000_000 }),
  )
  const models = { fake: model }
  const runner = new Runner(world, { sessionPool: new SessionPool(), ...given, models, tools: [lookUpTool] })
  await runner.start()
  const sessions = runner.subagents(lead)
  const launch = async (count: number): Promise<void> => {
    const asked = { category: 'keeper', notify: false }
    await Promise.all(Array.from({ length: count }, (_, n) => sessions.spawn({ ...asked, prompt: `Go on, ${n}.` })))
  }
  const wave = async (count: number): Promise<void> => {
    await launch(count)
    await runner.idle()
  }
  return { runner, lead, sessions, launch, wave }
}
