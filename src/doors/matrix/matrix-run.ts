import { callback, checkOptions, countFromZero, type ShapesOf } from '../../world/option-shapes.ts'
import { archiveFlushed } from './archive.ts'
import type { ArchiveSink } from './archived-turns.ts'
import { connect } from './connection.ts'
import { Position } from './position.ts'
import { RoomBot } from './room-bot.ts'
import { type MatrixSessionOptions, RoomSessions, sessionOptionShapes, toStderr } from './room-sessions.ts'

/** Options of `matrixRun`. */
export interface RunOptions extends MatrixSessionOptions {
  /** How long the homeserver may hold back a sync that has nothing new. @default 30000 */
  readonly timeoutMs?: number | undefined
  /** Gets the turns that `matrixRequestFlush` asks to archive. @default Markdown files */
  readonly sink?: ArchiveSink | undefined
  /** Ends it. Turns under way go on with the next `matrixRun`. */
  readonly signal?: AbortSignal | undefined
}

/** Messages that wait before no more are fetched. */
const maxWaiting = 1_000

const runShapes: ShapesOf<RunOptions> = {
  ...sessionOptionShapes,
  timeoutMs: countFromZero,
  sink: callback,
  signal: { wanted: 'an AbortSignal', fits: (value) => value instanceof AbortSignal },
}

/**
 * Answers messages until the signal aborts: one chat session a room, which a restart finds again. Waits where the homeserver is
 * busy or out of reach.
 *
 * @returns how many messages were answered
 * @throws by its promise: `matrix-not-configured`, `missing-peer`, `matrix-failed` where the homeserver refuses for good, such as the
 * token, and what `sessionSetup` and `openSession` throw. A supervisor may start it again.
 */
export async function matrixRun(options: RunOptions = {}): Promise<number> {
  checkOptions('matrixRun', options, runShapes)
  const { signal: given, sink, timeoutMs = 30_000, ...own } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const stop = (): void => stopping.abort()
  given?.addEventListener('abort', stop)
  if (given?.aborted === true) stop()
  const { env, host, onNotice = toStderr } = own
  const maxTries = Infinity
  const { clock, config, folders, home } = await connect({ clock: host?.clock, env, maxTries, onNotice, signal })
  const position = await Position.open(folders, config)
  const sessions = new RoomSessions(own)
  const bot = new RoomBot({ config, home, clock, position, sessions, signal, onNotice, isFresh: false })
  const loop = async (): Promise<void> => {
    for (let { since } = position; ;) {
      const batch = await bot.sync(since, since === undefined ? 0 : timeoutMs)
      // Between two syncs nothing is listened to: a clock that jumps must not end a question then.
      clock.begin?.()
      try {
        await bot.take(batch, since)
        await archiveFlushed(sessions, folders, { sink })
      } finally {
        clock.end?.()
      }
      since = batch.next
      while (position.openCount >= maxWaiting) await bot.lessToDo()
    }
  }
  try {
    await Promise.race([loop(), bot.failed])
  } catch (error) {
    if (given?.aborted !== true) throw error
  } finally {
    stop()
    given?.removeEventListener('abort', stop)
    await bot.stop()
    await sessions.close()
  }
  return bot.replies
}
