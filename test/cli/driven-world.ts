import {
  agent,
  type Clock,
  declare,
  defineComponent,
  defineTool,
  Runner,
  scripted,
  sqliteStore,
  standardSystems,
  SubagentRegistry,
  World,
} from 'entia'
import { ToolRegistry } from 'entia/components'
import { Ceilings } from 'entia/context'
import { z } from 'zod'

const Customer = defineComponent('Customer', z.strictObject({ number: z.string() }))

const dig = defineTool({
  name: 'dig',
  description: 'Digs in the archive.',
  restart: 'once',
  input: z.strictObject({ where: z.string() }),
  run: () => new Promise<string>(() => undefined),
})

const models = {
  script: scripted(({ messages }) => {
    if (!JSON.stringify(messages[0]).includes('parcel')) return new Promise<never>(() => undefined)
    const launch = { name: 'subagent', arguments: { category: 'clerk', prompt: 'Ask the depot.', background: true } }
    return {
      text: 'I look for it.',
      toolCalls: [launch, { name: 'dig', arguments: { where: 'cellar' } }],
      usage: { input: 100, output: 20 },
    }
  }),
}

/** Drives a world whose agent waits for a tool that never ends, and has a session that never answers. */
export async function drivenWorld(folder: string, name: string, clock?: Clock): Promise<Runner> {
  const world = new World({ name, systems: standardSystems(), components: [Customer] })
  world.spawn(
    ...agent({ model: 'script/desk', messages: 'Where is\nmy parcel?' }),
    ToolRegistry({ tools: declare(dig) }),
    SubagentRegistry({ subagents: { clerk: { name: 'clerk' } } }),
    Ceilings({ maxSessionCostUsd: 5 }),
    Customer({ number: '4711' }),
  )
  const store = sqliteStore({ folder, synchronous: 'normal' })
  const runner = new Runner(world, { store, models, tools: [dig], ...(clock && { clock }) })
  // By then, the tool runs and the session has begun.
  const launched = new Promise((resolve) => runner.on('delegation-started', resolve))
  await runner.start()
  await launched
  return runner
}
