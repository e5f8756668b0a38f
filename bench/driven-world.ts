import { agent, type Initial, type Message, type Price, Runner, standardSystems, type Store, World } from 'entia'
import { conversation, fakeModel, lookUpTool, provider, type Think } from './bare-loop.ts'
import { times } from './measure.ts'

export interface DrivenWorldOptions {
  /** Messages in each agent's conversation before its first measured turn. */
  readonly messages: number
  /** Each turn is the next agent's, so that with many of them conversations stay as long as they are. */
  readonly agents: number
  readonly callsPerTurn: number
  readonly store?: Store
  readonly name?: string
  readonly record?: boolean
  readonly ticksPerSnapshot?: number
  /** What each agent has besides. */
  readonly parts?: readonly Initial[]
  /** What the model costs. */
  readonly prices?: Readonly<Record<string, Price>>
}

/** A world of agents that wait to be spoken to, and its Runner. Each has had a turn already: nothing is done for the first time. */
export async function driveWorld(options: DrivenWorldOptions) {
  const {
    messages,
    agents,
    callsPerTurn,
    store,
    name = 'world',
    parts = [],
    prices,
    record,
    ticksPerSnapshot,
  } = options
  let think: Think = fakeModel(0)
  const world = new World({ name, systems: standardSystems() })
  const said: Message[] = conversation(messages - 2)
  const ids = Array.from({ length: agents }, () =>
    world.spawn(...agent({ model: 'fake/model', tools: [lookUpTool], messages: said }), ...parts),
  )
  const runner = new Runner(world, {
    models: { fake: provider((request) => think(request)) },
    tools: [lookUpTool],
    ...(store !== undefined && { store }),
    ...(prices !== undefined && { prices }),
    ...(record !== undefined && { record }),
    ...(ticksPerSnapshot !== undefined && { ticksPerSnapshot }),
  })
  await runner.start()
  await Promise.all(ids.map((id) => runner.message(id, 'Hello.')))
  await runner.idle()
  think = fakeModel(callsPerTurn)
  let next = 0
  return {
    runner,
    /** The next agent's turn, from a message to the answer. */
    turn: async (text: string): Promise<void> => {
      await runner.message(ids[next++ % agents] as number, text)
      await runner.idle()
    },
  }
}

/** Has everything compiled by the time that something is measured: the compiler's work would count as the framework's. */
export async function warmUp(options: Pick<DrivenWorldOptions, 'parts' | 'prices' | 'store'> = {}): Promise<void> {
  const { runner, turn } = await driveWorld({ messages: 2, agents: 1, callsPerTurn: 5, ...options })
  await times(1_500, () => turn('Go.'))
  await runner.stop()
}
