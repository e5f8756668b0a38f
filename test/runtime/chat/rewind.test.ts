import { chmod, mkdir, readdir, readFile, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ScriptedReply, textOf } from 'entia'
import { Rewound } from 'entia/components'
import { type ChatSession, openSession, sessionSetup, turn } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { gate, script } from './chatting.ts'

/** A reply that writes files, or runs a command. */
function writes(files: Readonly<Record<string, string>>): ScriptedReply {
  return {
    toolCalls: Object.entries(files).map(([path, content]) => ({ name: 'write_file', arguments: { path, content } })),
  }
}

interface Place {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Where contents are kept. */
  readonly kept: () => Promise<string>
}

async function place(files: Readonly<Record<string, string>> = {}): Promise<Place> {
  const home = await tempFolder()
  const cwd = join(home, 'app')
  await mkdir(cwd)
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text)
  const sessions = join(home, 'data/sessions')
  return {
    cwd,
    env: { HOME: home, ENTIA_CONFIG_DIR: join(home, 'config'), ENTIA_DATA_DIR: join(home, 'data') },
    kept: async () => join(sessions, (await readdir(sessions))[0] ?? '', 'rewind'),
  }
}

const permissions = { write_file: 'allow', replace_in_file: 'allow', bash: 'allow' } as const

function options(replies: readonly ScriptedReply[]) {
  const { models, requests } = script(replies)
  const more = {
    provider: 'script',
    model: 'm',
    host: { models },
    permissions,
    sandbox: 'off',
    tools: ['core'],
  } as const
  return { more, requests }
}

async function chatting({ cwd, env }: Place, ...replies: readonly ScriptedReply[]) {
  const { more, requests } = options(replies)
  const session = await sessionSetup({ cwd, env, ...more })
  onTestFinished(() => session.close())
  return { session, requests }
}

async function reopened({ cwd, env }: Place, ...replies: readonly ScriptedReply[]): Promise<ChatSession> {
  const session = await openSession({ key: 'latest', cwd, env, ...options(replies).more })
  onTestFinished(() => session.close())
  return session
}

const text = (at: Place, name: string): Promise<string | undefined> =>
  readFile(join(at.cwd, name), 'utf8').catch(() => undefined)

const said = (session: ChatSession): string[] => session.history.map((message) => textOf(message))

describe('a chat session that goes back', () => {
  it('loses what was said since, puts back what its tools wrote, and removes what they made', async () => {
    const at = await place({ 'a.txt': 'one\n' })
    const { requests, session } = await chatting(
      at,
      'Hello.',
      writes({ 'a.txt': 'two\n', 'new.txt': 'n\n' }),
      { toolCalls: [{ name: 'replace_in_file', arguments: { path: 'a.txt', old: 'two', new: 'three' } }] },
      'Written.',
    )
    await turn('Hi', session)
    await turn('Write.', session)
    expect([await text(at, 'a.txt'), await text(at, 'new.txt')]).toEqual(['three\n', 'n\n'])
    const plan = await session.rewindPlan()
    expect(plan).toMatchObject({
      commands: 0,
      files: [{ action: 'put-back', state: 'as-written' }, { action: 'remove' }],
    })
    const { files, message } = await session.rewind(1, { files: true })
    expect([textOf(message), files.map(({ isDone }) => isDone)]).toEqual(['Write.', [true, true]])
    expect([await text(at, 'a.txt'), await text(at, 'new.txt')]).toEqual(['one\n', undefined])
    expect(said(session)).toEqual(['Hi', 'Hello.'])
    await turn('Else.', session)
    expect(requests.at(-1)?.messages.map((each) => textOf(each))).toEqual(['Hi', 'Hello.', 'Else.'])
  })

  it('removes the folders that were made for files, unless something else is in them by now', async () => {
    const at = await place({ 'a.txt': 'one\n' })
    const { session } = await chatting(
      at,
      writes({ 'new/deep/a.txt': 'a', 'new/deep/b.txt': 'b', 'kept/c.txt': 'c' }),
      'Written.',
    )
    await turn('Write.', session)
    await writeFile(join(at.cwd, 'kept/mine.txt'), 'mine')
    await session.rewind(1, { files: true })
    expect((await readdir(at.cwd, { recursive: true })).toSorted()).toEqual(['a.txt', 'kept', 'kept/mine.txt'])
  })

  it('goes back again, to what was there before that', async () => {
    const at = await place({ 'a.txt': 'one\n' })
    const { session } = await chatting(
      at,
      writes({ 'a.txt': 'two\n' }),
      'Two.',
      writes({ 'a.txt': 'three\n' }),
      'Three.',
    )
    await turn('Two!', session)
    await turn('Three!', session)
    await session.rewind(1, { files: true })
    expect(await text(at, 'a.txt')).toBe('two\n')
    await session.rewind(1, { files: true })
    expect([await text(at, 'a.txt'), said(session)]).toEqual(['one\n', []])
    await expect(session.rewind()).rejects.toThrow('There is nothing to take back yet.')
  })

  it('leaves files alone unless it is asked to put them back, and can still put them back later', async () => {
    const at = await place({ 'a.txt': 'one\n' })
    const { session } = await chatting(at, 'Hello.', writes({ 'a.txt': 'two\n' }), 'Two.')
    await turn('Hi', session)
    await turn('Two!', session)
    expect((await session.rewind()).files).toEqual([])
    expect(await text(at, 'a.txt')).toBe('two\n')
    await session.rewind(1, { files: true })
    expect(await text(at, 'a.txt')).toBe('one\n')
  })

  it('refuses a count that is no whole number from 1 to the number of messages', async () => {
    const { session } = await chatting(await place(), 'One.', 'Two.')
    await turn('Hi', session)
    await turn('Ho', session)
    const refused = { code: 'invalid-argument', message: expect.stringMatching(/^rewind: /) as string }
    for (const count of [0, -1, 1.5, '1', NaN, 3]) {
      await expect(session.rewind(count as number)).rejects.toMatchObject(refused)
      await expect(session.rewindPlan(count as number)).rejects.toMatchObject(refused)
    }
    expect(session.history).toHaveLength(4)
  })

  it('refuses while a turn is under way', async () => {
    const open = gate<ScriptedReply>()
    const at = await place()
    const { models } = script(async () => open.promise)
    const { cwd, env } = at
    const session = await sessionSetup({ cwd, env, ...options([]).more, host: { models } })
    onTestFinished(() => session.close())
    const under = turn('Hi', session)
    await expect(session.rewind()).rejects.toMatchObject({ code: 'turn-in-progress' })
    open.resolve('Hello.')
    expect(await under).toMatchObject({ reply: 'Hello.' })
  })

  it('marks files that another hand has changed, and touches them only when that is wanted', async () => {
    const names = ['changed', 'deleted', 'readonly', 'folder', 'made', 'linked', 'fine']
    const at = await place(Object.fromEntries(names.filter((name) => name !== 'made').map((name) => [name, 'one'])))
    const { session } = await chatting(at, writes(Object.fromEntries(names.map((name) => [name, 'two']))), 'Done.')
    await turn('Write.', session)
    const path = (name: string): string => join(at.cwd, name)
    await writeFile(path('changed'), 'mine')
    await unlink(path('deleted'))
    await chmod(path('readonly'), 0o444)
    await rm(path('folder'))
    await mkdir(path('folder'))
    await writeFile(path('made'), 'mine')
    await rm(path('linked'))
    await symlink(path('fine'), path('linked'))
    const { files } = await session.rewindPlan()
    expect(files.map((file) => [file.path.split('/').at(-1), file.action, file.state, file.why])).toEqual([
      ['changed', 'put-back', 'changed', 'changed since by another hand'],
      ['deleted', 'put-back', 'changed', 'deleted since'],
      ['fine', 'put-back', 'as-written', undefined],
      ['folder', 'put-back', 'impossible', 'it is a folder now'],
      ['linked', 'put-back', 'impossible', 'it is no regular file now'],
      ['made', 'remove', 'changed', 'changed since by another hand'],
      ['readonly', 'put-back', 'changed', 'made read-only since'],
    ])
    const { files: done } = await session.rewind(1, { files: true })
    expect(done.filter(({ isDone }) => isDone).map((file) => file.path)).toEqual([path('fine')])
    expect([await text(at, 'changed'), await text(at, 'deleted'), await text(at, 'made')]).toEqual([
      'mine',
      undefined,
      'mine',
    ])
  })

  it('puts back what another hand has changed when that is wanted', async () => {
    const at = await place({ changed: 'one', deleted: 'one' })
    const { session } = await chatting(at, writes({ changed: 'two', deleted: 'two', made: 'two' }), 'Done.')
    await turn('Write.', session)
    await writeFile(join(at.cwd, 'changed'), 'mine')
    await unlink(join(at.cwd, 'deleted'))
    await writeFile(join(at.cwd, 'made'), 'mine')
    await session.rewind(1, { files: true, changedFiles: true })
    expect([await text(at, 'changed'), await text(at, 'deleted'), await text(at, 'made')]).toEqual([
      'one',
      'one',
      undefined,
    ])
  })

  it('says of a file that was too large to keep that it stays', async () => {
    const at = await place({ large: 'x'.repeat(17 * 1024 * 1024) })
    const { session } = await chatting(at, writes({ large: 'two' }), 'Done.')
    await turn('Write.', session)
    const { files } = await session.rewind(1, { files: true, changedFiles: true })
    expect(files).toMatchObject([{ isDone: false, state: 'impossible', why: 'it was too large to keep' }])
    expect(await text(at, 'large')).toBe('two')
  })

  it('says how many commands ran, whose work stays', async () => {
    const at = await place()
    const { session } = await chatting(
      at,
      {
        toolCalls: [
          { name: 'bash', arguments: { command: 'echo x > by-bash' } },
          { name: 'list_files', arguments: {} },
        ],
      },
      'Done.',
    )
    await turn('Run.', session)
    expect(await session.rewind(1, { files: true })).toMatchObject({ commands: 1, files: [] })
    expect(await text(at, 'by-bash')).toBe('x\n')
  })

  it('does so after it was closed and opened again; what it keeps is for its user alone', async () => {
    const at = await place({ 'a.txt': 'one\n' })
    const { session } = await chatting(at, writes({ 'a.txt': 'two\n' }), 'Two.')
    await turn('Two!', session)
    await session.close()
    const kept = await at.kept()
    for (const name of await readdir(kept)) expect((await stat(join(kept, name))).mode & 0o777).toBe(0o600)
    expect((await stat(kept)).mode & 0o777).toBe(0o700)
    const later = await reopened(at, 'Anew.')
    await later.rewind(1, { files: true })
    expect(await text(at, 'a.txt')).toBe('one\n')
    await later.close()
    expect(said(await reopened(at))).toEqual([])
  })

  it('cut off between the conversation and the files puts the files back at the next start', async () => {
    const at = await place({ 'a.txt': 'one\n' })
    const { session } = await chatting(at, 'Hello.', writes({ 'a.txt': 'two\n' }), 'Two.')
    await turn('Hi', session)
    await turn('Two!', session)
    const { fromSeq } = await session.rewind(1)
    await session.close()
    // What a process leaves that dies once the conversation is committed.
    await writeFile(join(await at.kept(), 'pending.json'), JSON.stringify({ fromSeq, changedFiles: false }))
    const later = await reopened(at)
    await later.start()
    expect([await text(at, 'a.txt'), said(later)]).toEqual(['one\n', ['Hi', 'Hello.']])
    expect(await readdir(await at.kept())).not.toContain('pending.json')
  })

  it('cut off before the conversation is committed changes nothing', async () => {
    const at = await place({ 'a.txt': 'one\n' })
    const { session } = await chatting(at, writes({ 'a.txt': 'two\n' }), 'Two.')
    await turn('Two!', session)
    const { fromSeq } = await session.rewindPlan()
    await session.close()
    await writeFile(join(await at.kept(), 'pending.json'), JSON.stringify({ fromSeq, changedFiles: false }))
    const later = await reopened(at)
    await later.start()
    expect([await text(at, 'a.txt'), later.history.length]).toEqual(['two\n', 4])
    expect(later.world.has(later.agent, Rewound)).toBe(false)
  })

  it('has it in its transcript, from which nothing is deleted, and numbers no message twice', async () => {
    const at = await place()
    const { session } = await chatting(at, 'One.', 'Two.', 'Three.')
    for (const words of ['First', 'Second']) await turn(words, session)
    await session.rewind()
    await turn('Third', session)
    await session.close()
    const lines = (await readFile(join(await at.kept(), '../transcript.jsonl'), 'utf8')).trimEnd().split('\n')
    const read = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    expect(read.map(({ fromSeq, seq, toSeq, turn: place, type }) => [type, seq ?? fromSeq, place ?? toSeq])).toEqual([
      ['session', undefined, undefined],
      ['message', 1, 1],
      ['message', 2, 1],
      ['turn-end', undefined, undefined],
      ['message', 3, 2],
      ['message', 4, 2],
      ['turn-end', undefined, undefined],
      ['rewrite', 3, 4],
      ['message', 5, 2],
      ['message', 6, 2],
      ['turn-end', undefined, undefined],
    ])
    expect(read[7]).toMatchObject({ kind: 'rewind', text: '[taken back]' })
  })
})
