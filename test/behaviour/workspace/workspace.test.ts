import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Retrieval, Workspace, WorkspaceEntry } from 'entia/components'
import { defineTool, type ScriptedReply, type ModelRequest, textOf } from 'entia'
import { builtinTools, type ChatSession, listWorkspace, type NewSessionOptions, pinResult } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tempFolder } from '../../tools/temp-folder.ts'
import { handover } from '../context/long-lives.ts'
import { call as calling, calls, delegate, resultsIn, stepwise, team } from '../sessions/team.ts'
import { tool } from '../turns/tools.ts'
import { chatting } from '../../runtime/chat/chatting.ts'

const allowed = { permissions: { bash: 'allow', write_file: 'allow', replace_in_file: 'allow' } } as const

/** Gives 100 numbers, which go to a handle, whatever they are made from. */
const derive = defineTool({
  name: 'derive',
  description: 'Derives.',
  input: z.object({ from: z.string() }),
  restart: 'pure',
  operation: 'read',
  paths: [],
  run: ({ from }) => Array.from({ length: 100 }, (_, index) => index + from.length),
})

/** Gives 100 numbers from a file. A program's own tool: it says nothing of the file but where it is. */
const load = defineTool({
  name: 'load',
  description: 'Loads.',
  input: z.object({ path: z.string() }),
  restart: 'pure',
  operation: 'read',
  paths: ['path'],
  run: () => Array.from({ length: 100 }, (_, index) => index),
})

const call = (name: string, input: object): ScriptedReply => ({ toolCalls: [{ name, arguments: input as never }] })

/** A chat session in a folder with files, whose model makes these calls one after the other in each turn. */
async function working(files: Readonly<Record<string, string>>, options: NewSessionOptions = {}) {
  const cwd = await tempFolder()
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text)
  const tools = [...builtinTools({ cwd, tools: ['file', 'bash', 'data'] }), derive, load]
  let replies: ScriptedReply[] = []
  const { requests, session } = chatting(
    ({ system }: ModelRequest) => (system.includes('handover') ? handover : (replies.shift() ?? 'Done.')),
    { cwd, tools, policy: allowed, ...options },
  )
  const says = async (prompt: string, ...calls: readonly ScriptedReply[]): Promise<void> => {
    replies = [...calls]
    await session.turn(prompt)
  }
  return { cwd, session, says, requests }
}

const staleNames = (session: ChatSession): string[] =>
  listWorkspace(session).flatMap(({ isStale, name }) => (isStale ? [name] : []))

/** What the newest request has behind the user's last message. */
const behind = (requests: readonly ModelRequest[]): string | undefined => {
  const last = requests.at(-1)?.messages.findLast(({ role }) => role === 'system')
  return last === undefined ? undefined : textOf(last)
}

describe('the results of an agent', () => {
  it('are entered with what they are for, and what they were made from', async () => {
    const { says, session } = await working({ 'a.txt': 'hello' })
    await says(
      'Go.',
      call('read_file', { path: 'a.txt' }),
      call('derive', { from: 'nothing' }),
      call('derive', { from: 'h(.h_001)' }),
      call('grep_files', { pattern: 'hel+o' }),
      call('bash', { command: 'echo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18' }),
    )
    await says('Again.', call('bash', { command: 'echo [1,2]' }))
    expect(listWorkspace(session)).toMatchObject([
      {
        name: 'file:a.txt',
        origin: 'read_file {"path":"a.txt"}',
        type: 'text',
        turn: 1,
        sizeBytes: expect.any(Number),
      },
      { name: '.h_001', key: 'derive:turn1', type: 'list', isStale: false, isPinned: false },
      { name: '.h_002', key: 'derive:turn1', origin: 'derive {"from":"h(.h_001)"}' },
      { name: 'grep:hel+o' },
      { name: 'bash:echo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15' },
      { name: 'bash:echo [1,2]', type: 'list', turn: 2 },
    ])
  })

  it('are not entered where they failed, were denied, or show what is stored', async () => {
    const { says, session } = await working({}, { policy: { permissions: { bash: 'deny' } } })
    await says(
      'Go.',
      call('read_file', { path: 'none.txt' }),
      call('bash', { command: 'true' }),
      call('derive', { from: '' }),
      call('read_handle', { handle: '.h_001' }),
    )
    expect(listWorkspace(session).map(({ name }) => name)).toEqual(['.h_001'])
  })

  it('are all stale once the file is written that the first of them is from', async () => {
    const { says, session } = await working({ 'a.txt': 'hello' })
    await says(
      'Go.',
      call('load', { path: './a.txt' }),
      call('derive', { from: '.h_001' }),
      call('derive', { from: '.h_002' }),
      call('derive', { from: '' }),
    )
    expect(listWorkspace(session).map(({ name }) => name)).toEqual(['.h_001', '.h_002', '.h_003', '.h_004'])
    expect(staleNames(session)).toEqual([])
    await says('Write.', call('write_file', { path: 'a.txt', content: 'other' }))
    expect(staleNames(session)).toEqual(['.h_001', '.h_002', '.h_003'])
  })

  it.each([
    ['changes the file', 'echo more >> a.txt', ['file:a.txt']],
    ['takes the file away', 'rm a.txt', ['file:a.txt']],
    ['changes the file and fails', 'echo more >> a.txt; exit 3', ['file:a.txt']],
    ['touches another file', 'echo more >> b.txt', []],
  ])('are stale once a command %s', async (_, command, stale) => {
    const { says, session } = await working({ 'a.txt': 'a', 'b.txt': 'b' })
    await says('Go.', call('read_file', { path: 'a.txt' }), call('bash', { command }))
    expect(staleNames(session)).toEqual(stale)
  })

  it('of an agent without Retrieval are not entered', async () => {
    const { says, session } = await working({})
    await session.start()
    await session.runner.change((world) => world.remove(session.agent, Retrieval))
    await says('Go.', call('derive', { from: '' }))
    expect(session.world.entitiesWith(WorkspaceEntry)).toEqual([])
  })
})

describe('a turn', () => {
  const steps = [call('read_file', { path: 'a.txt' }), call('derive', { from: 'x' })]

  it('begins with nothing that the model sees anyway, and with what a summary has covered', async () => {
    const { requests, says, session } = await working({ 'a.txt': 'hello' })
    await says('Look.', ...steps)
    await says('And?')
    expect(behind(requests)).toBeUndefined()
    await session.compact()
    await says('What did a.txt say?')
    const text = behind(requests) ?? ''
    expect(text).toContain('All: .h_001, file:a.txt')
    expect(text).toContain('## file:a.txt: text, from read_file {"path":"a.txt"}, turn 1\n| ')
    expect(text).toContain('hello')
    expect(text).toContain('list of 100 numbers')
    // Once in a context window is enough.
    await says('And now?')
    expect(session.history.filter(({ role }) => role === 'system')).toHaveLength(1)
  })

  it('says what has become stale, once', async () => {
    const { cwd, says, session } = await working({ 'a.txt': 'hello' })
    await says('Look.', call('read_file', { path: 'a.txt' }), call('bash', { command: 'echo x > a.txt' }))
    await says('And?')
    await says('And now?')
    const notes = session.history.flatMap((each) => (each.role === 'system' ? [textOf(each)] : []))
    expect(notes).toEqual([expect.stringContaining('All: bash:echo x > a.txt, ~file:a.txt')])
    expect(await readFile(join(cwd, 'a.txt'), 'utf8')).toBe('x\n')
  })

  it('begins with the same bytes in worlds that have done the same', async () => {
    const texts = []
    for (let run = 0; run < 2; run++) {
      const { requests, says, session } = await working({ 'a.txt': 'hello' })
      await says('Look.', ...steps)
      await session.compact()
      await says('What did it say?')
      texts.push(behind(requests))
    }
    expect(texts[0]).toContain('# Workspace')
    expect(texts[1]).toBe(texts[0])
  })

  it('begins with as much as the settings let it', async () => {
    const { requests, says, session } = await working({ 'a.txt': 'hello' }, { maxRetrievedChars: 0 })
    await says('Look.', ...steps)
    await session.compact()
    await says('What did it say?')
    expect(behind(requests)).toBeUndefined()
  })

  it('that is taken back leaves no result behind', async () => {
    const { says, session } = await working({ 'a.txt': 'hello' })
    await says('Look.', call('read_file', { path: 'a.txt' }))
    await says('Derive.', call('derive', { from: '' }), call('bash', { command: 'echo y > a.txt' }))
    await session.rewind(1)
    expect(listWorkspace(session)).toMatchObject([{ name: 'file:a.txt', isStale: true }])
  })
})

describe('a result that is pinned', () => {
  it('stays, and is marked', async () => {
    const { requests, says, session } = await working({ 'a.txt': 'hello' })
    await says('Look.', call('read_file', { path: 'a.txt' }), call('derive', { from: '' }))
    expect(await pinResult(session, 'file:a.txt')).toBe(true)
    expect(await pinResult(session, '.h_1')).toBe(true)
    expect(await pinResult(session, '.h_1', false)).toBe(true)
    expect(await pinResult(session, 'file:b.txt')).toBe(false)
    for (let at = 0; at < 51; at++) await says('Hm.')
    await session.compact()
    await says('And?')
    expect(listWorkspace(session)).toMatchObject([{ name: 'file:a.txt', isPinned: true }])
    expect(behind(requests)).toContain('All: *file:a.txt')
  })
})

describe('a subagent', () => {
  it.each([
    ['keeps results of its own, if its parent does', [Workspace, Retrieval({})], 'keeps'],
    ['keeps none, if its parent does not', [Workspace], 'keeps nothing'],
  ])('%s', async (_, parts, said) => {
    const tools = [tool('peek', ({ knownFiles }) => (knownFiles === undefined ? 'keeps nothing' : 'keeps'))]
    const made = team({
      agent: { tools },
      runner: { tools },
      parts,
      subagents: { researcher: { tools: ['peek'] } },
      lead: stepwise(calls(delegate('go')), 'Done.'),
      worker: stepwise(calls(calling('one', 'peek')), 'Done.'),
    })
    await made.run()
    expect(resultsIn(made.asked('worker').flatMap(({ request }) => [...request.messages]))).toEqual({ one: said })
  })
})
