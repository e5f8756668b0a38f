import {
  agent,
  Conversation,
  fileTools,
  type ModelRequest,
  Runner,
  scripted,
  standardSystems,
  textOf,
  World,
} from 'entia'

// A smaller model reads a large file and returns a digest: what it has read stays out of the agent's own context.

const { readFile, grepFiles, listFiles } = fileTools({ folder: new URL('..', import.meta.url) })
const tools = [readFile, grepFiles, listFiles]

/** Stands for what a model reads: about four characters a token. */
const tokens = ({ messages, system }: ModelRequest): number => {
  const length = [...messages].reduce((sum, message) => sum + JSON.stringify(message).length, system.length)
  return Math.ceil(length / 4)
}
const usage = (request: ModelRequest) => ({ input: tokens(request), output: 20 })

/** Wants to know one thing about a long file, and asks for it with the tool that it is told to use. */
const asker = (tool: string, input: Record<string, string>) =>
  scripted(
    ({ messages }) => {
      const last = messages.at(-1)
      return last?.role === 'user'
        ? { toolCalls: [{ name: tool, arguments: input }] }
        : 'The order is in systems/index.ts.'
    },
    { usage },
  )

/** Reads what it was asked about, and says what matters of it. */
const reader = scripted(
  ({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'user')
      return { toolCalls: [{ name: 'read_file', arguments: { path: 'docs/architecture.md' } }] }
    const line = textOf(last)
      .split('\n')
      .find((text) => text.includes('the order of a tick'))
    return `It says (docs/architecture.md): ${line?.trim() ?? 'nothing'}`
  },
  { usage },
)

const runs = [
  ['read_file', { path: 'docs/architecture.md' }],
  ['agentic_read_file', { request: 'docs/architecture.md: where does the order of a tick stand?' }],
] as const

for (const [tool, input] of runs) {
  const world = new World({ systems: standardSystems() })
  const config = { context: { agentic: { smallModel: 'small/reader' } } }
  const lead = world.spawn(
    ...agent({ model: 'large/lead', tools, messages: 'Where does the order of a tick stand?', config }),
  )
  const runner = new Runner(world, { models: { large: asker(tool, input), small: reader }, tools })
  const prompts: number[] = []
  runner.on('model-replied', ({ path, usage: used }) => {
    if (path === undefined) prompts.push(used.input ?? 0)
  })
  await runner.start()
  await runner.idle()
  console.log(`with ${tool}: the lead has read ${prompts.reduce((sum, count) => sum + count, 0)} tokens`)
  const result = world.read(lead, Conversation).find(({ role }) => role === 'tool')
  if (tool === 'agentic_read_file') console.log(textOf(result))
  await runner.stop()
}

/*
Prints:
with read_file: the lead has read … tokens
with agentic_read_file: the lead has read … tokens
{"digest":"It says (docs/architecture.md): … the order of a tick…","truncated":false,"steps_used":2}
*/
