import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { defineTool, type ModelRequest, scripted, type ToolContext } from 'entia'
import { estimateTokens } from 'entia/context'
import { connectMcp, mcpTools } from 'entia/mcp'
import { sessionSetup, turn } from 'entia/runtime'
import { z } from 'zod'
import { compare, median, ratio, times } from './measure.ts'
import { readable, type Row } from './row.ts'

const program = join(import.meta.dirname, '../test/programs/mcp-misfit.mjs')
const target = { command: process.execPath, args: [program] }
const many = { ...target, args: [program, ...Array.from({ length: 100 }, (_, index) => `tool_number_${index}`)] }

/** MCP servers: what a call costs, and what servers cost that are configured. */
export async function measure(): Promise<Row[]> {
  return [await aCall(), ...(await configured())]
}

/** A call over stdio, beside the same with the SDK alone. */
async function aCall(): Promise<Row> {
  const alone = new Client({ name: 'bench', version: '1' })
  await alone.connect(new StdioClientTransport(target))
  const connection = await connectMcp(target, { name: 's' })
  const echo = mcpTools(connection).find(({ declaration }) => declaration.name === 's__echo')
  if (echo === undefined) throw new Error('The server has no tool echo.')
  const context: ToolContext = {
    signal: new AbortController().signal,
    key: 'key',
    attempt: 1,
    agent: 1,
    world: 'w',
    progress: () => {},
    sleep: async () => {},
    post: async () => {},
    message: async () => {},
  }
  const calls = 100
  const { wallMs } = await compare({
    rounds: 41,
    warmUp: 10,
    work: () => times(calls, () => echo.call({ said: 'hello' }, context)),
    against: () => times(calls, () => alone.callTool({ name: 'echo', arguments: { said: 'hello' } })),
  })
  await connection.close()
  await alone.close()
  return {
    name: 'a call of a local MCP server, wall time',
    value: ratio(wallMs),
    unit: '×',
    limit: 1.3,
    against: `the official client alone: ${readable((median(wallMs.against) / calls) * 1_000)} µs`,
  }
}

async function configured(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'entia-bench-'))
  try {
    const none = await home(join(folder, 'none'), {})
    const servers = Array.from({ length: 100 }, (_, index) => [`server${index}`, target] as const)
    const hundred = await home(join(folder, 'hundred'), { servers: Object.fromEntries(servers) })
    const one = await home(join(folder, 'one'), { servers: Object.fromEntries(servers.slice(0, 1)) })
    await one.aTurn()
    await copyRecords(join(folder, 'one/cache/mcp'), join(folder, 'hundred/cache/mcp'), servers)
    const { wallMs } = await compare({ rounds: 9, warmUp: 2, work: hundred.start, against: none.start })
    const shown = await home(join(folder, 'shown'), { servers: { many }, maxDeclared: 1_000 })
    const found = await home(join(folder, 'found'), { servers: { many } })
    const [direct, bySearch] = [await shown.aTurn(), await found.aTurn()]
    return [
      {
        name: 'a chat session set up and closed, with 100 MCP servers that are not used',
        value: median(wallMs.work),
        unit: 'ms',
        limit: median(wallMs.against) + 50,
        against: `without: ${readable(median(wallMs.against))} ms`,
      },
      {
        name: 'prompt tokens of 125 tools of servers, found by a search',
        value: bySearch,
        unit: '',
        against: `all declared: ${direct}`,
      },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What a connection to one server has found, for all of them: they are named by their names and what is configured. */
async function copyRecords(from: string, to: string, servers: readonly (readonly [string, object])[]): Promise<void> {
  const [record = ''] = await readdir(from)
  await mkdir(to, { recursive: true })
  for (const server of servers) {
    const name = createHash('sha256').update(JSON.stringify(server)).digest('hex').slice(0, 32)
    await copyFile(join(from, record), join(to, `${name}.json`))
  }
}

/** A user's home with servers in its configuration. */
async function home(folder: string, mcp: object) {
  await mkdir(join(folder, 'config'), { recursive: true })
  await writeFile(join(folder, 'config/config.json'), JSON.stringify({ mcp }), { mode: 0o600 })
  const names = ['config', 'data', 'cache', 'state']
  const env = {
    HOME: folder,
    ...Object.fromEntries(names.map((name) => [`ENTIA_${name.toUpperCase()}_DIR`, join(folder, name)])),
  }
  const own = defineTool({ name: 'own', description: 'Does it.', input: z.object({}), restart: 'pure', run: () => '' })
  const session = (models: Parameters<typeof scripted>[0]) =>
    sessionSetup({
      cwd: folder,
      env,
      tools: [own],
      provider: 'script',
      model: 'm',
      store: false,
      loadProjectContext: false,
      host: { models: { script: scripted(models) } },
      onNotice: () => {},
    })
  return {
    start: async () => (await session(() => 'Done.')).close(),
    /** Tokens of the tools in a request. */
    async aTurn(): Promise<number> {
      let tools: ModelRequest['tools'] = []
      const chat = await session((request) => {
        ;({ tools } = request)
        return 'Done.'
      })
      await turn('Hello', chat)
      await chat.close()
      return tools
        .filter(({ name }) => name.includes('__') || name.endsWith('_tool') || name === 'find_tools')
        .reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool), { factor: 1 }), 0)
    },
  }
}
