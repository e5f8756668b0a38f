import { defineTool, type NamedValue, type Tool } from 'entia'
import { Handle } from 'entia/components'
import {
  builtinTools,
  type ChatSession,
  collectSubagent,
  newSession,
  openSession,
  querySubagent,
  sessionSetup,
  spawnSubagent,
} from 'entia/runtime'
import { memoryStore, scripted, type ScriptedBehaviour, type Store, VirtualClock } from 'entia'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { tempFolder } from '../../tools/temp-folder.ts'

/** A tool that keeps values under names, as `run_js` does. */
function keeper(values: Readonly<Record<string, NamedValue>>, asked: string[] = []): Tool {
  const tool = defineTool({
    name: 'read_file',
    description: 'Computes.',
    input: z.object({}),
    restart: 'pure',
    operation: 'read',
    paths: [],
    run: () => Array.from({ length: 60 }, (_, index) => index),
  })
  return {
    ...tool,
    named: async (name, { world }) => {
      asked.push(`${world} ${name}`)
      return values[name] ?? { why: 'there is no such name' }
    },
  }
}

/** Calls the tool in its first turn, and gives a handle's content when it is told to read one. */
const worker: ScriptedBehaviour = ({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return 'Computed.'
  return messages.length === 1 ? { toolCalls: [{ name: 'read_file', arguments: {} }] } : 'Here.'
}

async function asked(values: Readonly<Record<string, NamedValue>>, store?: Store) {
  const names: string[] = []
  const [readHandle] = builtinTools({ cwd: '.', tools: ['read_handle'] }) as [Tool]
  const tools = [keeper(values, names), readHandle]
  const session = newSession({
    model: 'script/m',
    tools,
    ...(store !== undefined && { store }),
    host: { clock: new VirtualClock(), models: { script: scripted(worker) } },
  })
  onTestFinished(() => session.close())
  const id = await spawnSubagent(session, { task: 'Compute.', tools: ['read_file', 'read_handle'] })
  await collectSubagent(session, id, { wait: true })
  return { id, session, names, ask: (returnName: string) => querySubagent(session, id, 'Give it.', { returnName }) }
}

const shapes = ({ agent, world }: ChatSession): string[] =>
  world.referrers(Handle, agent).map((handle) => world.read(handle, Handle).shape)

describe('a question that asks for a value by its name', () => {
  it('gets the reply, and a handle of its own that has the value', async () => {
    const { ask, id, names, session } = await asked({ x: { value: [1, 2, 3] } })
    expect(await ask('x')).toBe('Here.\n[stored as .h_001]')
    expect(await ask('x')).toBe('Here.\n[stored as .h_002]')
    expect(shapes(session)).toEqual(['list of 3 numbers: 1, 2, 3', 'list of 3 numbers: 1, 2, 3'])
    expect(names).toEqual([`${id} x`, `${id} x`])
  })

  it.each([
    ['in memory', undefined],
    ['in a store', memoryStore()],
  ])('gets the value of a handle of the subagent: %s', async (_, store) => {
    const { ask, names, session } = await asked({}, store)
    expect(await ask('.h_001')).toBe('Here.\n[stored as .h_001]')
    expect(shapes(session)).toEqual([expect.stringContaining('list of 60 numbers')])
    expect(names).toEqual([])
    expect(await ask('.h_009')).toBe('Here.\n[returnName ".h_009": there is no such handle]')
  })

  it('gets the reply and why there is no value', async () => {
    const { ask, session } = await asked({ big: { why: 'it cannot be copied' } })
    expect(await ask('big')).toBe('Here.\n[returnName "big": it cannot be copied]')
    expect(await ask('none')).toBe('Here.\n[returnName "none": there is no such name]')
    expect(shapes(session)).toEqual([])
  })

  it('is collected with it', async () => {
    const { id, session } = await asked({ x: { value: 1 } })
    await querySubagent(session, id, 'Give it.', { returnName: 'x', wait: false })
    expect(await collectSubagent(session, id, { wait: true })).toBe('Here.\n[stored as .h_001]')
  })

  it('whose program ends while the value is looked up gets it after the next start, and asks nothing twice', async () => {
    const folder = await tempFolder({})
    const looking = Promise.withResolvers<void>()
    const lookUps: string[] = []
    const tool: Tool = {
      ...keeper({}),
      named: async (name, { signal }) => {
        lookUps.push(name)
        looking.resolve()
        if (lookUps.length === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return { value: lookUps.length }
      },
    }
    const requests: unknown[] = []
    const model = scripted((request, context) => {
      requests.push(request)
      return worker(request, context)
    })
    const [readHandle] = builtinTools({ cwd: '.', tools: ['read_handle'] }) as [Tool]
    const common = {
      env: { HOME: folder, ENTIA_CONFIG_DIR: `${folder}/c`, ENTIA_DATA_DIR: `${folder}/d` },
      ...{ cwd: folder, tools: [tool, readHandle], host: { clock: new VirtualClock(), models: { script: model } } },
    }
    const first = await sessionSetup({ ...common, model: 'script/m' })
    onTestFinished(() => first.close())
    const id = await spawnSubagent(first, { task: 'Compute.', tools: ['read_file', 'read_handle'] })
    await collectSubagent(first, id, { wait: true })
    await querySubagent(first, id, 'Give it.', { returnName: 'x', wait: false })
    await looking.promise
    await first.close()
    const asked = requests.length
    const second = await openSession({ ...common, key: first.key })
    onTestFinished(() => second.close())
    expect(await collectSubagent(second, id, { wait: true })).toBe('Here.\n[stored as .h_001]')
    expect(shapes(second)).toEqual(['number 2'])
    expect(requests).toHaveLength(asked)
  })

  it.each([7, 'a\nb', 'a\u2028b'])('is refused a name that is no text on one line: %j', async (name) => {
    const { id, session } = await asked({})
    await expect(querySubagent(session, id, 'Give it.', { returnName: name as never })).rejects.toThrow(/returnName/)
    await expect(
      session.runner.subagents(session.agent).query(id, 'Give it.', { returnName: name as never }),
    ).rejects.toThrow(/returnName/)
  })
})
