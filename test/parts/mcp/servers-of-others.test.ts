import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agent, type ModelRequest, run, scripted, standardSystems, textOf, type Tool, World } from 'entia'
import { Conversation } from 'entia/components'
import { connectMcp, type ConnectOptions, type McpConnection, mcpTools } from 'entia/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rejection } from '../../behaviour/turns/driving.ts'
import { called } from '../../runtime/mcp/misfit.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

const root = join(import.meta.dirname, '../../..')

/** A server of others, over stdio. */
async function started(
  server: 'everything' | 'filesystem' | 'memory',
  options: ConnectOptions & { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<McpConnection> {
  const { args = [], env, ...rest } = options
  const program = join(root, 'node_modules/@modelcontextprotocol', `server-${server}`, 'dist/index.js')
  const target = { command: process.execPath, args: [program, ...args], ...(env !== undefined && { env }) }
  const connection = await connectMcp(target, { name: server, ...rest })
  onTestFinished(() => connection.close())
  return connection
}

/** Ids of the processes that this one has started, whose command line holds a text. */
function children(text: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'latin1'))?.[1]
      const isOurs = Number(parent) === process.pid && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text)
      return isOurs ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

describe('server-everything', () => {
  it('has its texts, images, structured results, resources and prompts read', async () => {
    const connection = await started('everything')
    const tools = mcpTools(connection)
    expect(await called(tools, 'everything__echo', { message: 'hi' })).toBe('Echo: hi')
    expect(await called(tools, 'everything__get-tiny-image')).toContain('<image/png>')
    const weather = JSON.parse(
      await called(tools, 'everything__get-structured-content', { location: 'Chicago' }),
    ) as object
    expect(Object.keys(weather).toSorted()).toEqual(['conditions', 'humidity', 'temperature'])
    expect(await called(tools, 'everything__get-resource-links', { count: 2 })).toMatch(/\[resource .*<demo:/)
    expect(await called(tools, 'everything__list_resources')).toContain('demo://resource/')
    const resource = { uri: 'demo://resource/dynamic/text/1' }
    expect(await called(tools, 'everything__read_resource', resource)).toContain('plaintext resource')
    expect(await connection.prompt('args-prompt', { city: 'Rome' })).toContain('Rome')
  })

  it('is asked again after it was killed in the middle of a call, which is not made again', async () => {
    const tools = mcpTools(await started('everything'))
    const names = ['everything__trigger-long-running-operation', 'everything__echo']
    const script = scripted(({ messages }: ModelRequest) => {
      const name = names[messages.filter(({ role }) => role === 'tool').length]
      const input = { duration: 600, steps: 600, message: 'again' }
      return name === undefined ? 'Done.' : { toolCalls: [{ name, arguments: input }] }
    })
    const killing: readonly Tool[] = tools.map(({ call, declaration }) => ({
      declaration,
      call(input, context) {
        const pending = call(input, context)
        if (declaration.name === names[0]) for (const id of children('server-everything')) process.kill(id, 'SIGKILL')
        return pending
      },
    }))
    const world = new World({ systems: standardSystems() })
    const asked = world.spawn(...agent({ model: 'script/m', tools, messages: 'go' }))
    await run(world, { models: { script }, tools: killing })
    const answers = world.read(asked, Conversation).flatMap((each) => (each.role === 'tool' ? textOf(each) : []))
    expect(answers).toEqual([expect.stringContaining('the server ended (SIGKILL)'), 'Echo: again'])
  })

  it('asks a person by elicitation, and is cancelled in the middle of a call', async () => {
    const asked: string[] = []
    const elicit: ConnectOptions['elicit'] = async ({ message }) => {
      asked.push(message)
      return { action: 'decline' }
    }
    const tools = mcpTools(await started('everything', { elicit }))
    expect(await called(tools, 'everything__trigger-elicitation-request')).toContain('declined')
    expect(asked).toHaveLength(1)
    const stopped = new AbortController()
    const progress = (): void => stopped.abort(new Error('stop'))
    const input = { duration: 60, steps: 600 }
    const long = called(tools, 'everything__trigger-long-running-operation', input, {
      progress,
      signal: stopped.signal,
    })
    expect(await rejection(long)).toMatchObject({ message: 'stop' })
    expect(await called(tools, 'everything__echo', { message: 'hi' })).toBe('Echo: hi')
  })

  it('leaves no process behind', async () => {
    const connection = await started('everything')
    expect(children('server-everything').length).toBeGreaterThan(0)
    await connection.close()
    expect(children('server-everything')).toEqual([])
  })
})

describe('server-filesystem', () => {
  it('reads and writes in the folder that it is given', async () => {
    const folder = await tempFolder()
    await mkdir(join(folder, 'sub'))
    await writeFile(join(folder, 'a.txt'), 'one\ntwo\n')
    const tools = mcpTools(await started('filesystem', { args: [folder], cwd: folder }))
    expect(await called(tools, 'filesystem__read_text_file', { path: join(folder, 'a.txt') })).toContain('one\ntwo')
    await called(tools, 'filesystem__write_file', { path: join(folder, 'sub/b.txt'), content: 'three' })
    expect(await readFile(join(folder, 'sub/b.txt'), 'utf8')).toBe('three')
    expect(await called(tools, 'filesystem__read_text_file', { path: '/etc/hosts' })).toMatch(/denied/i)
  })

  it('says which of its tools only read, which counts where it is trusted', async () => {
    const folder = await tempFolder()
    const connection = await started('filesystem', { args: [folder], cwd: folder })
    const restart = (name: string, trusted: boolean) =>
      mcpTools(connection, { trusted }).find(({ declaration }) => declaration.name === name)?.declaration.restart
    expect(restart('filesystem__read_text_file', false)).toBe('once')
    expect(restart('filesystem__read_text_file', true)).toBe('pure')
    expect(restart('filesystem__write_file', true)).toBe('keyed')
    expect(restart('filesystem__move_file', true)).toBe('once')
  })
})

describe('server-memory', () => {
  it('keeps what it is told, over a kill in between', async () => {
    const folder = await tempFolder()
    const tools = mcpTools(await started('memory', { env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } }))
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes looms'] }]
    await called(tools, 'memory__create_entities', { entities })
    const before = children('server-memory')
    for (const id of before) process.kill(id, 'SIGKILL')
    await expect
      .poll(async () => called(tools, 'memory__read_graph').catch(() => ''), { timeout: 10_000 })
      .toContain('likes looms')
    expect(children('server-memory')).not.toEqual(before)
  })
})
