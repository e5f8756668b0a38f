import { agent, Conversation, defineTool, scripted, standardSystems, type Tool, World } from 'entia'
import { law, type ServiceCaller, service, simulatedUser, type SimulateOptions, standardLaws } from 'entia/sim'
import { z } from 'zod'
import { everyFault } from './every-fault.ts'
import { calls, spoken } from './spoken.ts'

/** What servers of others do with a call. */
const ways = ['answers', 'dies before', 'dies after', 'never answers', 'refuses', 'misfits', 'is too long'] as const
type Way = (typeof ways)[number]

/** The posts that a server has sent: each letter at most once. It may fail before and after it has done its work. */
const post = service(
  () => ({ sent: [] as string[] }),
  ({ request: { letter, way } }: { readonly request: { readonly letter: string; readonly way: Way } }, state) => {
    if (way === 'refuses') return 'refused'
    state.sent.push(letter)
    return 'sent'
  },
)
type Post = { call(request: { readonly letter: string; readonly way: Way }, caller: ServiceCaller): Promise<string> }

/** A tool of a server, as its client gives it: what is lost throws, what the server refuses is an error that the model reads. */
function serverTool(name: string, restart: 'pure' | 'once', own: Post): Tool {
  const tool = defineTool({
    name,
    description: `The MCP server 'post' says of it: ${name.replaceAll('_', ' ')}.`,
    input: z.object({ letter: z.string(), way: z.enum(ways) }),
    restart,
    timeoutMs: 20_000,
    async run({ letter, way }, context) {
      if (way === 'dies before') throw new Error("The connection to the MCP server 'post' was lost.")
      if (restart === 'pure') return `read ${letter}`
      const answer = await own.call({ letter, way }, context)
      if (way === 'dies after') throw new Error("The connection to the MCP server 'post' was lost.")
      if (way === 'never answers') await context.sleep(1e9)
      if (way === 'is too long') throw new Error('It sent a message of more than 16777216 bytes.')
      const isError = way === 'refuses' || way === 'misfits'
      return { content: [{ type: 'text', text: answer }], isError }
    },
  })
  return { ...tool, declaration: { ...tool.declaration, deferred: true } }
}

const names = Array.from({ length: 45 }, (_, index) => `post__send_${index}`)

function tools(own: Post): Tool[] {
  return [serverTool('post__read', 'pure', own), ...names.map((name) => serverTool(name, 'once', own))]
}

/** As `mcpTools` gives them where there are too many to be shown. */
const search = ['find_tools', 'call_tool'].map((name) => ({
  name,
  description: 'Finds and calls tools of servers.',
  inputSchema: { type: 'object' },
  restart: 'pure' as const,
  world: true as const,
}))

const sentOnce = law<{ post: { readonly sent: readonly string[] } }>('no letter is sent twice', {
  ticked: ({ services }) => new Set(services.post.sent).size === services.post.sent.length,
})

const everyCallAnswered = law('every call has an answer', {
  finished: ({ worlds }) =>
    [...worlds.values()].every(({ world }) =>
      world.query(Conversation).every((speaker) => {
        const messages = world.read(speaker, Conversation)
        const asked = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool-call'))
        return asked.length === messages.filter(({ role }) => role === 'tool').length
      }),
    ),
})

/** Two agents whose servers fail in every way, while processes die: tools found by a search, called by `call_tool` or by themselves. */
export default {
  services: { post },
  tools: ({ post: own }) => tools(own),
  models: {
    clerk: scripted((request) => {
      const round = spoken(request)
      if (round >= 6) return 'Done.'
      const way = ways[round % ways.length]
      const letter = `${JSON.stringify(request.messages[0]?.content)} ${request.messages.length}`
      return calls(
        ['find_tools', { query: 'send' }],
        ['call_tool', { name: `post__send_${round}`, arguments: { letter: `${letter} a`, way } }],
        [`post__send_${round + 10}`, { letter: `${letter} b`, way: ways[(round + 3) % ways.length] }],
        ['call_tool', { name: 'post__read', arguments: { letter, way: 'answers' } }],
        ['call_tool', { name: 'post__nothing', arguments: {} }],
      )
    }),
  },
  world(seed) {
    const world = new World({ name: 'clerks', seed, systems: standardSystems() })
    const offline = tools({ call: () => Promise.reject(new Error('There is no post.')) })
    const declared = [...search, ...offline]
    for (const task of ['one', 'two']) world.spawn(...agent({ model: 'clerk/x', tools: declared, messages: task }))
    return world
  },
  users: { eve: simulatedUser(() => undefined) },
  faults: everyFault,
  laws: [...standardLaws, sentOnce, everyCallAnswered],
} satisfies SimulateOptions<{ post: typeof post }>
