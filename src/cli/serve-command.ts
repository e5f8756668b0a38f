import type { ServeOptions } from '../doors/mcp/index.ts'
import type { Interruption } from './interruption.ts'
import { namesIn } from './chat/chat-arguments.ts'
import { parsedWords, UsageError } from './parsed-words.ts'

const serveHelp = `Offer the tools of Entia to MCP clients: other agents, editors, programs.

  entia serve                  on standard input and output
  entia serve --port 8808      by HTTP, at http://127.0.0.1:8808/mcp

  --port N            serve HTTP at this port; 0 takes a free one
  --host NAME         listen at this address (default: 127.0.0.1)
  --tools LIST        offer these: names and categories (default: all)
  --allow LIST        let these tools run without asking
  --expose-subagents  offer subagents as tools; what they spend has a cap
  --cwd FOLDER        work in this folder (default: this one); no call leaves it
  --provider NAME     for chat and subagents: anthropic, openai, moonshot, …
  --model NAME        model of the provider, or PROVIDER/NAME
  --help              show this help

Clients of the protocol versions 2026-07-28 and 2025-11-25 are served alike.
A call that would be asked about is put to the client's user, if the client
can do that, and declined if not. By HTTP a bearer token is needed: that of
ENTIA_MCP_TOKEN, or one that is made at the first start and printed once.

In the settings of a client:
  { "command": "npx", "args": ["entia", "serve", "--cwd", "/path/to/project"] }
`

export interface ServePlace {
  readonly environment: NodeJS.ProcessEnv
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  readonly interruption: () => Interruption
}

/** `entia serve`: serves until it is interrupted, or standard input ends. Returns the exit code. @throws UsageError, and what `serve` throws */
export async function serveCommand(words: readonly string[], place: ServePlace): Promise<number> {
  const options = serveArguments(words)
  if (options === undefined) {
    place.stdout.write(serveHelp)
    return 0
  }
  const { environment, stderr } = place
  const { serve } = await import('../doors/mcp/index.ts')
  const notice = (text: string): unknown => stderr.write(`entia: ${text}\n`)
  const server = await serve({ ...options, env: { ...environment }, onNotice: notice })
  const { signal } = place.interruption()
  signal.addEventListener('abort', () => void server.close())
  if (signal.aborted) await server.close()
  await server.closed
  return 0
}

/** `undefined`: the help is asked for. */
export function serveArguments(words: readonly string[]): ServeOptions | undefined {
  const { values, positionals } = parsedWords(words, {
    port: { type: 'string' },
    host: { type: 'string' },
    tools: { type: 'string', multiple: true },
    allow: { type: 'string', multiple: true },
    'expose-subagents': { type: 'boolean' },
    cwd: { type: 'string' },
    provider: { type: 'string' },
    model: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help === true) return undefined
  if (positionals.length > 0) throw new UsageError(`entia serve takes no words, got ${positionals.join(' ')}.`)
  const { allow, cwd, host, model, provider, tools } = values
  if (host !== undefined && values.port === undefined)
    throw new UsageError('--host needs --port: without one, entia serves standard input and output.')
  return {
    port: portOf(values.port),
    host,
    tools: tools && namesIn(tools),
    allow: allow && namesIn(allow),
    exposeSubagents: values['expose-subagents'],
    cwd,
    provider,
    model,
  }
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = /^\d+$/.test(text) ? Number(text) : NaN
  if (port <= 65_535) return port
  throw new UsageError(`--port must be a number from 0 to 65535, got ${JSON.stringify(text)}.`)
}
