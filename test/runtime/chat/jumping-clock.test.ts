import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, realClock } from 'entia'
import { turn } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeChat, openChat } from '../../../src/runtime/chat/make-chat.ts'
import { SessionFolder } from '../../../src/runtime/chat/session-folder.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { script } from './chatting.ts'

const key = '20261123-150000-abcd'
const yearMs = 365 * 24 * 3_600_000

/** A machine whose date is set forward and back while programs run, as a user or a time server may do. */
class SetClock implements Clock {
  dateMs = Date.UTC(2026, 10, 23)

  now(): number {
    return realClock.now()
  }

  at(instantMs: number, fire: () => void): () => void {
    return realClock.at(instantMs, fire)
  }

  date(): number {
    return this.dateMs
  }
}

interface Line {
  readonly type: string
  readonly seq?: number
  readonly stop?: string
}

describe('a chat session on a machine whose date jumps', () => {
  it('goes on in each direction, during a turn, between turns and over a restart', async () => {
    const clock = new SetClock()
    const folder = new SessionFolder(join(await tempFolder(), 'sessions'))
    const jumping = (byMs: number) =>
      script(() => {
        clock.dateMs += byMs
        return 'Well.'
      })
    const options = (byMs: number) => {
      return { key, provider: 'script', model: 'm', cwd: '/work', host: { clock, models: jumping(byMs).models } }
    }
    const first = makeChat(options(yearMs), { folder })
    onTestFinished(() => first.close())
    expect(await turn('One?', first)).toMatchObject({ reply: 'Well.', stop: 'done' })
    const before = first.world.nowMs
    clock.dateMs -= 3 * yearMs
    expect(await turn('Two?', first)).toMatchObject({ stop: 'done' })
    // Deadlines count in world time, which knows no date.
    expect(first.world.nowMs).toBeGreaterThanOrEqual(before)
    expect(first.world.nowMs).toBeLessThan(yearMs)
    await first.close()

    clock.dateMs = 0
    const later = await openChat(key, options(-yearMs), { folder })
    onTestFinished(() => later.close())
    expect(await turn('Three?', later)).toMatchObject({ stop: 'done' })
    await later.close()
    expect(await folder.find('latest', '/work')).toBe(key)
    const lines = (await readFile(folder.transcript(key), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    expect(lines.flatMap(({ seq, type }) => (type === 'message' ? [seq] : []))).toEqual([1, 2, 3, 4, 5, 6])
    expect(lines.filter(({ type }) => type === 'turn-end').map(({ stop }) => stop)).toEqual(['done', 'done', 'done'])
  })
})
