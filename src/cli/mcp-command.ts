import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { EntiaError } from '../index.ts'
import { folders } from '../runtime/config/folders.ts'
import { readRuntimeConfig } from '../runtime/config/read-runtime-config.ts'
import { McpConnection } from '../runtime/mcp/mcp-connection.ts'
import { ServerRecords } from '../runtime/mcp/server-records.ts'
import { confining, targetOf } from '../runtime/mcp/session-servers.ts'
import { openSandbox } from '../runtime/sandbox/open-sandbox.ts'
import { SignIns } from '../runtime/mcp/sign-in.ts'
import { didYouMean } from '../base/near-names.ts'
import type { ConfigPlace } from './config-command.ts'
import { parsedWords, UsageError } from './parsed-words.ts'

const mcpHelp = `Look after the MCP servers of your configuration (mcp.servers in config.json).

  entia mcp list           connect to each, and show what it offers
  entia mcp login NAME     sign in to a server on the network
  entia mcp logout NAME    forget that sign-in
  entia mcp accept NAME    let permissions count again for tools that changed

  --cwd FOLDER        the project (default: this folder)
  --json              print one JSON object (list)
  --help              show this help

Exit codes: 0 done, 1 it failed, 2 wrong arguments or configuration.
`

const verbs = ['list', 'login', 'logout', 'accept'] as const
/** How long a server may take, in milliseconds. */
const connectTimeoutMs = 15_000

/** `entia mcp`: returns the exit code. @throws UsageError, `config-invalid` */
export async function mcpCommand(
  words: readonly string[],
  place: ConfigPlace & { readonly signal: AbortSignal },
): Promise<number> {
  const { values, positionals } = parsedWords(words, {
    cwd: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help === true) {
    place.stdout.write(mcpHelp)
    return 0
  }
  const [given = 'list', name, ...rest] = positionals
  const verb = verbs.find((each) => each === given)
  if (verb === undefined) throw new UsageError(`There is no command 'entia mcp ${given}'.${didYouMean(given, verbs)}`)
  const tooMany = verb === 'list' ? positionals.slice(1) : rest
  if (tooMany.length > 0) throw new UsageError(`entia mcp ${verb} takes no more words, got ${tooMany.join(' ')}.`)
  const at = { ...place, cwd: resolve(place.cwd, values.cwd ?? '.') }
  const servers = await configured(at)
  if (verb === 'list') return list(servers, values.json === true, at)
  const server = servers.find((each) => each.name === name)
  if (server !== undefined) return await { login, logout, accept }[verb](server, at)
  const names = servers.map((each) => each.name)
  const what = name === undefined ? `entia mcp ${verb} needs the name of a server.` : `There is no server '${name}'.`
  throw new UsageError(
    `${what}${name === undefined ? '' : didYouMean(name, names)} Configured: ${names.join(', ') || 'none'}.`,
  )
}

type At = Parameters<typeof mcpCommand>[1]
type Server = Awaited<ReturnType<typeof configured>>[number]

async function configured({ cwd, environment, stderr }: At) {
  const { config, notices } = await readRuntimeConfig({ cwd, folders: folders(environment, cwd) })
  for (const notice of notices) stderr.write(`entia: ${notice}\n`)
  return Object.entries(config.mcp?.servers ?? {}).map(([name, server]) => {
    return { name, server, config, target: targetOf(server), isTrusted: server.trusted === true }
  })
}

async function list(servers: readonly Server[], isJson: boolean, at: At): Promise<number> {
  const place = { cwd: at.cwd, home: homedir(), folders: folders(at.environment, at.cwd) }
  const { cache, state } = place.folders
  const [records, signIns] = [new ServerRecords(cache), new SignIns(state)]
  const [{ config } = { config: undefined }] = servers
  const sandbox = config && (await openSandbox(config, place))
  const rows = await Promise.all(
    servers.map(async ({ isTrusted, name, server, target }) => {
      if (target === undefined) return { name, state: 'it has neither command nor url', isConnected: false, isTrusted }
      const where = 'url' in target ? target.url : [target.command, ...(target.args ?? [])].join(' ')
      const auth = 'url' in target ? signIns.provider(name, target.url) : undefined
      const confine = confining(server, sandbox, place)
      const connection = new McpConnection(target, {
        name,
        cwd: at.cwd,
        passEnv: config?.passEnv,
        connectTimeoutMs,
        auth,
        confine,
        roots: server.roots,
      })
      try {
        const { prompts, tools } = await connection.connect()
        const { changed = [] } = (await records.read(name, target)) ?? {}
        const named = { tools: tools.map((tool) => tool.name), prompts: prompts.map((prompt) => prompt.name) }
        return {
          name,
          where,
          state: 'connected',
          isConnected: true,
          protocol: connection.protocol,
          isTrusted,
          ...named,
          changed,
        }
      } catch (error) {
        return { name, where, state: (error as Error).message, isConnected: false, isTrusted }
      } finally {
        await connection.close()
      }
    }),
  )
  await sandbox?.close()
  if (isJson) at.stdout.write(`${JSON.stringify({ servers: rows })}\n`)
  else if (rows.length === 0) at.stdout.write('No MCP server is configured: mcp.servers in config.json.\n')
  for (const row of isJson ? [] : rows) {
    const offered = 'tools' in row ? `, ${row.tools.length} tools, ${row.prompts.length} prompts` : ''
    const changed = 'changed' in row && row.changed.length > 0 ? `\n  changed: ${row.changed.join(', ')}` : ''
    at.stdout.write(
      `${row.name}  ${row.where ?? ''}\n  ${row.state}${offered}${row.isTrusted ? ', trusted' : ''}${changed}\n`,
    )
  }
  return rows.every(({ isConnected }) => isConnected) ? 0 : 1
}

async function login({ name, target }: Server, { cwd, environment, signal, stderr, stdout }: At): Promise<number> {
  const url = addressOf(name, target)
  const show = (address: string): void => void stdout.write(`Open this page to sign in to ${name}:\n${address}\n`)
  try {
    await new SignIns(folders(environment, cwd).state).signIn(name, url, show, signal)
  } catch (error) {
    if (error instanceof EntiaError) throw error
    stderr.write(`entia: You are not signed in to ${name}: ${(error as Error).message}\n`)
    return 1
  }
  stdout.write(`You are signed in to ${name}.\n`)
  return 0
}

async function logout({ name, target }: Server, { cwd, environment, stdout }: At): Promise<number> {
  const isForgotten = await new SignIns(folders(environment, cwd).state).forget(addressOf(name, target))
  stdout.write(isForgotten ? `The sign-in to ${name} is forgotten.\n` : `You were not signed in to ${name}.\n`)
  return 0
}

async function accept({ name, target }: Server, { cwd, environment, stdout }: At): Promise<number> {
  const records = new ServerRecords(folders(environment, cwd).cache)
  const record = target && (await records.read(name, target))
  if (target === undefined || record === undefined || record.changed.length === 0) {
    stdout.write(`No tool of ${name} has changed.\n`)
    return 0
  }
  await records.write(name, target, { ...record, changed: [] })
  stdout.write(`Permissions count again for ${record.changed.join(', ')}.\n`)
  return 0
}

function addressOf(name: string, target: Server['target']): string {
  if (target !== undefined && 'url' in target) return target.url
  throw new UsageError(`The server '${name}' is a program of this machine: there is nothing to sign in to.`)
}
