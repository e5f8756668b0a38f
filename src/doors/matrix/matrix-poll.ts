import { EntiaError } from '../../base/entia-error.ts'
import { checkOptions, countFromZero, type ShapesOf } from '../../base/option-shapes.ts'
import { noticesTo } from '../../runtime/notices.ts'
import { connect } from './connection.ts'
import { Position } from './position.ts'
import { RoomBot } from './room-bot.ts'
import { type MatrixSessionOptions, type MatrixSessions, RoomSessions, sessionOptionShapes } from './room-sessions.ts'

/** Options of `matrixPoll`. */
export interface PollOptions extends MatrixSessionOptions {
  /** How long the homeserver may wait for something new. @default 0 */
  readonly timeoutMs?: number | undefined
  /** Where rooms have their chat sessions. @default each message has one of its own */
  readonly sessions?: MatrixSessions | undefined
}

/** How long the homeserver holds back a sync that only looks for reactions. */
const questionSyncMs = 10_000

const pollShapes: ShapesOf<PollOptions> = {
  ...sessionOptionShapes,
  timeoutMs: countFromZero,
  sessions: { wanted: 'what matrixSessions() gives', fits: (value) => value instanceof RoomSessions },
}

/**
 * Asks the homeserver once for what is new: takes invitations, answers messages, and gives the number of replies. The first time it
 * only notes where to begin. What fails is answered by the next poll.
 *
 * @throws by its promise: `matrix-not-configured`, `matrix-failed`, `missing-peer`, and what `sessionSetup` and `openSession` throw
 */
export async function matrixPoll(options: PollOptions = {}): Promise<number> {
  checkOptions('matrixPoll', options, pollShapes)
  const { sessions: given, timeoutMs = 0, ...own } = options
  const sessions = sessionsOf(given, own)
  const { env, host } = sessions.options
  const onNotice = noticesTo(sessions.options.onNotice)
  const stopping = new AbortController()
  const { signal } = stopping
  const connection = await connect({ clock: host?.clock, env, onNotice, signal })
  const { clock, config, folders, home } = connection
  const position = await Position.open(folders, config)
  const { since } = position
  const parts = { config, home, clock, position, sessions, signal, onNotice, isFresh: given === undefined }
  const bot: RoomBot = new RoomBot({ ...parts, onQuestion: () => void (listening ??= listen()) })
  let next = ''
  let listening: Promise<void> | undefined
  /** Messages that these syncs bring are for the next poll. */
  const listen = async (): Promise<void> => {
    try {
      while (bot.reactions.openCount > 0) {
        const batch = await bot.sync(next, questionSyncMs)
        bot.see(batch)
        next = batch.next
      }
    } catch (error) {
      // Without reactions the questions end by their time.
      if (!signal.aborted) onNotice(`Reactions cannot be read: ${(error as Error).message}`)
    } finally {
      listening = undefined
    }
  }
  try {
    const batch = await bot.sync(since, since === undefined ? 0 : timeoutMs)
    ;({ next } = batch)
    await bot.take(batch, since)
    await bot.done()
    return bot.replies
  } finally {
    stopping.abort()
    await listening
    await bot.stop()
  }
}

function sessionsOf(given: MatrixSessions | undefined, own: MatrixSessionOptions): RoomSessions {
  if (!(given instanceof RoomSessions)) return new RoomSessions(own)
  const [name] = Object.entries(own).flatMap(([key, value]) => (value === undefined ? [] : [key]))
  if (name === undefined) return given
  const what = `matrixPoll: ${name} cannot be said besides sessions.`
  throw new EntiaError('invalid-argument', `${what} Say it there: matrixSessions({ ${name} }).`, { option: name })
}
