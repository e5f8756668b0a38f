import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ArchivedRoom, matrixArchiveAll, matrixPoll, matrixRequestFlush, matrixSessions } from 'entia/matrix'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rejection } from '../../behaviour/turns/driving.ts'
import { type Lab, lab, replies, running } from './rooms.ts'

/** Rooms with chat sessions, and a way to say something in one and have it answered. */
async function talking() {
  const at = await lab()
  await matrixPoll(at.options)
  const sessions = matrixSessions(at.options)
  onTestFinished(() => sessions.close())
  const talk = async (words: string, room = at.room): Promise<void> => {
    at.server.say(room, at.ada, words)
    await matrixPoll({ sessions })
  }
  return { at, sessions, talk }
}

/** What a sink got: who said what, by turn. */
function heard({ turns }: ArchivedRoom): string[] {
  return turns.map(({ messages, turn }) => `${turn}: ${messages.map(({ role, text }) => `${role} ${text}`).join(', ')}`)
}

function archived({ env }: Lab): Promise<string[]> {
  return readdir(join(env.ENTIA_DATA_DIR, 'archive'))
}

describe('matrixArchiveAll', () => {
  it('hands over the turns since the last time, once each', async () => {
    const { at, sessions, talk } = await talking()
    const got: string[][] = []
    const sink = (room: ArchivedRoom) => void got.push(heard(room))
    expect(await matrixArchiveAll(sessions, { sink })).toBe(0)
    for (const words of ['one', 'two', 'three']) await talk(words)
    expect(await matrixArchiveAll(sessions, { sink })).toBe(1)
    for (const words of ['four', 'five']) await talk(words)
    expect(await matrixArchiveAll(sessions, { sink })).toBe(1)
    expect(got.map((turns) => turns.length)).toEqual([3, 2])
    expect(got[1]).toEqual(['4: user four, assistant You said: four', '5: user five, assistant You said: five'])
    expect(await matrixArchiveAll(sessions, { sink })).toBe(0)
    expect(await matrixSessions({ env: at.env }).list()).toMatchObject([{ roomId: at.room, archivedThrough: 5 }])
  })

  it('leaves the mark of a room where the sink fails, tries the others, and says so', async () => {
    const { at, sessions, talk } = await talking()
    const kitchen = at.server.addRoom('kitchen', [at.ada, at.bot])
    await talk('one')
    await talk('bread', kitchen)
    const got: string[] = []
    const failing = async ({ name = '' }: ArchivedRoom) => {
      if (name === 'lab') throw new Error('the disk is full')
      got.push(name)
    }
    expect(await matrixArchiveAll(sessions, { sink: failing })).toBe(1)
    expect(at.notices).toEqual(['The room lab was not archived: the disk is full'])
    expect(await matrixArchiveAll(sessions, { sink: ({ name = '' }) => void got.push(name) })).toBe(1)
    expect(got).toEqual(['kitchen', 'lab'])
  })

  it('writes Markdown files named after the rooms, and nothing twice after a crash', async () => {
    const { at, sessions, talk } = await talking()
    const other = at.server.addRoom('../etc/lab', [at.ada, at.bot])
    const twin = at.server.addRoom('twin', [at.ada, at.bot])
    at.server.state(twin, at.ada, 'm.room.name', { name: 'lab' })
    await talk('one')
    await talk('two', other)
    await talk('three', twin)
    expect(await matrixArchiveAll(sessions)).toBe(3)
    expect(await archived(at)).toEqual([
      expect.stringMatching(/^etc-lab\.md$/),
      expect.stringMatching(/^lab-[0-9a-f]{8}\.md$/),
      'lab.md',
    ])
    const read = () => readFile(join(at.env.ENTIA_DATA_DIR, 'archive/lab.md'), 'utf8')
    const first = await read()
    expect(first).toMatch(
      /^# lab\n\n## Turn 1\n\n\*\*user\*\*, \d{4}-.*Z:\n\none\n\n\*\*assistant\*\*, .*:\n\nYou said: one\n<!-- /,
    )
    await talk('four')
    const room = (await sessions.list()).find(({ roomId }) => roomId === at.room)
    await matrixArchiveAll(sessions)
    const second = await read()
    expect(second.match(/## Turn/g)).toHaveLength(2)
    // The mark was not moved.
    const { archiveFile } = await import('../../../src/doors/matrix/archive-file.ts')
    const turns = [{ turn: 2, messages: [{ role: 'user' as const, text: 'four', at: 0 }] }]
    await archiveFile(join(at.env.ENTIA_DATA_DIR, 'archive'))({ ...(room as NonNullable<typeof room>), turns })
    expect(await read()).toBe(second)
  })

  it('refuses what is none of its sessions', async () => {
    expect(await rejection(matrixArchiveAll({} as never))).toMatchObject({
      code: 'invalid-argument',
      message: expect.stringMatching(/sessions must be what matrixSessions\(\) gives/),
    })
  })
})

describe('matrixRequestFlush', () => {
  it('has the running bot archive, which takes the request away first', async () => {
    const at = await lab()
    const got: string[][] = []
    const signal = join(at.env.ENTIA_DATA_DIR, 'state/archive.signal')
    const isThere = (path: string) =>
      access(path).then(
        () => true,
        () => false,
      )
    let isSignalSeen: boolean | undefined
    await running(at, {
      sink: async (room) => {
        isSignalSeen ??= await isThere(signal)
        got.push(heard(room))
        if (got.length > 1) return
        // Asked again meanwhile.
        expect(await matrixRequestFlush({ env: at.env })).toBe(signal)
        throw new Error('the disk is full')
      },
    })
    at.server.say(at.room, at.ada, 'one')
    await at.server.until(() => replies(at, at.room).length === 1)
    await matrixRequestFlush({ env: at.env })
    while (got.length < 2) {
      const before = at.server.requests.length
      at.server.add(at.room, at.eve, 'm.room.message', { msgtype: 'm.notice', body: 'wake' })
      await at.server.until(() => at.server.requests.length > before)
    }
    expect(isSignalSeen).toBe(false)
    expect(got).toEqual([['1: user one, assistant You said: one'], ['1: user one, assistant You said: one']])
    expect(await isThere(signal)).toBe(false)
  })
})
