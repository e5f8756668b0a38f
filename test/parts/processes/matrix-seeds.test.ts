import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineTool, textOf } from 'entia'
import { matrixRun } from 'entia/matrix'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Fault } from '../../../examples/matrix/homeserver.ts'
import { lab, replies } from '../../doors/matrix/rooms.ts'

/** How many seeds, and the first one: `MATRIX_SEEDS=500 npm run test:parts matrix-seeds` takes more. */
const seeds = Number(process.env['MATRIX_SEEDS'] ?? 25)
const wordsARoom = 4
/** A story that takes more has lost something. */
const maxRequests = 600

/** Numbers from 0 to 1 that follow from a seed. */
function diceOf(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9
  return () => {
    state = Math.imul(state ^ (state >>> 15), state | 1) >>> 0
    state = (state + 0x6d2b79f5) >>> 0
    return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32
  }
}

const faults: readonly Fault[] = [
  'lost',
  'reply-lost',
  { status: 429, headers: { 'retry-after': '7' } },
  { status: 429, body: { errcode: 'M_LIMIT_EXCEEDED', error: 'slow', retry_after_ms: 1_500 } },
  { status: 502, body: '<html>Bad gateway</html>' },
  { status: 500 },
]

/** Two rooms are talked in while the homeserver fails, repeats itself and forgets tokens, and the program is cut again and again. */
async function story(seed: number) {
  const dice = diceOf(seed)
  const at = await lab(({ messages }) => {
    const last = messages.at(-1)
    const said = textOf(messages.findLast(({ role }) => role === 'user'))
    if (last?.role === 'tool' || said.endsWith('plain')) return `You said: ${said}`
    return { toolCalls: [{ name: 'note', arguments: { said } }] }
  })
  const notes = join(at.folder, 'notes')
  const note = defineTool({
    name: 'note',
    description: 'Notes something.',
    input: z.object({ said: z.string() }),
    operation: 'read',
    restart: 'once',
    run: async ({ said }) => {
      await appendFile(notes, `${said}\n`)
      return 'noted'
    },
  })
  at.options.tools = [note]
  const kitchen = at.server.addRoom('kitchen', [at.ada, at.bot])
  const rooms = [at.room, kitchen]
  let cutAt = Infinity
  let cuts = 0
  let hasBegun = false
  let forgottenAt = 0
  let life = new AbortController()
  at.server.fault = ({ index, path }) => {
    if (index > maxRequests) life.abort()
    if (!hasBegun) return undefined
    const fault = dice() < 0.25 ? faults[Math.floor(dice() * faults.length)] : undefined
    if (index >= cutAt && !life.signal.aborted) {
      cuts++
      // Before the request is handled, or a little after.
      if (dice() < 0.5) life.abort()
      else setTimeout(() => life.abort(), dice() * 4)
    }
    // One that is refused at once after the login ends a run.
    if (dice() < 0.02 && index > forgottenAt + 30) {
      forgottenAt = index
      at.server.forgetTokens()
    }
    // While one thing waits for its time, the homeserver is listened to; so time passes by listening.
    if (path === '/v3/sync') at.clock.advance(3_000)
    if (path === '/v3/sync' && dice() < 0.15) return 'repeated'
    return fault
  }
  let said = 0
  const say = (): void => {
    const room = rooms[said % 2] ?? ''
    at.server.say(room, at.ada, `${said++} ${dice() < 0.5 ? 'plain' : 'noted'}`)
  }
  const isAnswered = (): boolean => rooms.every((room) => replies(at, room).length >= wordsARoom)
  const isSaid = (): boolean => rooms.every((room) => at.server.said(room, at.ada).length >= wordsARoom)
  while ((!isAnswered() || !isSaid()) && at.server.requests.length < maxRequests) {
    life = new AbortController()
    const ended = matrixRun({ ...at.options, timeoutMs: 20, signal: life.signal })
    const { requests } = at.server
    if (!hasBegun) {
      await at.server.until(() => requests.filter((each) => each === 'GET /v3/sync').length > 1)
      hasBegun = true
    }
    cutAt = cuts < 6 ? requests.length + 2 + Math.floor(dice() * 12) : Infinity
    const { signal } = life
    const over = new Promise((resolve) => signal.addEventListener('abort', resolve))
    while (!signal.aborted && !isSaid()) {
      say()
      const until = requests.length + 1 + Math.floor(dice() * 4)
      await Promise.race([over, ended, at.server.until(() => requests.length >= until || isAnswered())])
    }
    await Promise.race([over, ended, at.server.until(isAnswered)])
    // What comes late would come now.
    life.abort()
    await ended
  }
  const given = rooms.map((room) =>
    at.server.said(room, at.ada).map(({ content }) => `You said: ${String(content['body'])}`),
  )
  return {
    given,
    got: rooms.map((room) => replies(at, room)),
    cuts,
    notes: await readFile(notes, 'utf8').catch(() => ''),
  }
}

describe('whatever a homeserver does, and whenever the program is cut,', () => {
  it.for(Array.from({ length: seeds }, (_, index) => index + Number(process.env['MATRIX_SEED'] ?? 0)))(
    'each message is answered once and in order, and no tool runs twice for it (seed %i)',
    { timeout: 30_000 },
    async (seed) => {
      const { cuts, got, given, notes } = await story(seed)
      expect(got).toEqual(given)
      expect(cuts).toBeGreaterThan(0)
      const lines = notes.split('\n').filter((line) => line !== '')
      expect(lines).toEqual([...new Set(lines)])
    },
  )
})
