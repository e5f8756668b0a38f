import type { Clock } from '../../engine/loop/clock.ts'
import { callback, checkOptions, countFromZero, type ShapesOf } from '../../base/option-shapes.ts'
import { noticesTo } from '../../runtime/notices.ts'
import { archiveFlushed } from './archive.ts'
import type { ArchiveSink } from './archived-turns.ts'
import { connect } from './connection.ts'
import { pause } from './pause.ts'
import { Position } from './position.ts'
import { RoomBot } from './room-bot.ts'
import { type MatrixSessionOptions, RoomSessions, sessionOptionShapes } from './room-sessions.ts'

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
/** Syncs in a row that come back at once and have nothing, before a pause: a server that does not hold them back is not hurried. */
const maxHasty = 10
const hastyPauseMs = 1_000

const runShapes: ShapesOf<RunOptions> = {
  ...sessionOptionShapes,
  timeoutMs: countFromZero,
  sink: callback,
  signal: { wanted: 'an AbortSignal', fits: (value) => value instanceof AbortSignal },
}

/**
 * Answers messages until the signal aborts: one chat session a room, which a restart finds again. Waits where the homeserver is
 * busy or out of reach. A room whose stored chat session cannot be opened, such as one that another program has open, is tried again
 * after a minute, then more and more rarely; the others go on.
 *
 * @returns how many messages were answered
 * @throws by its promise: `matrix-not-configured`, `missing-peer`, `matrix-failed` where the homeserver refuses for good, such as the
 * token, and what `sessionSetup` and `openSession` throw. A supervisor may start it again.
 */
export async function matrixRun(options: RunOptions = {}): Promise<number> {
  checkOptions('matrixRun', options, runShapes)
  const { signal } = options
  const stopping = new AbortController()
  const stop = (): void => stopping.abort()
  signal?.addEventListener('abort', stop)
  if (signal?.aborted === true) stop()
  try {
    return await runUntil(stopping, options)
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

async function runUntil(stopping: AbortController, options: RunOptions): Promise<number> {
  const { signal: given, sink, timeoutMs = 30_000, ...own } = options
  const { env, host } = own
  const onNotice = noticesTo(own.onNotice)
  const { signal } = stopping
  const maxTries = Infinity
  const { clock, config, folders, home } = await connect({ clock: host?.clock, env, maxTries, onNotice, signal })
  const position = await Position.open(folders, config)
  const sessions = new RoomSessions(own)
  const bot = new RoomBot({
    config,
    home,
    clock,
    position,
    sessions,
    signal,
    onNotice,
    isFresh: false,
    isPatient: true,
  })
  const afterEach = async (): Promise<void> => archiveFlushed(sessions, folders, { sink })
  const listening = listen({ bot, clock, position, timeoutMs, signal, afterEach })
  try {
    await Promise.race([listening, bot.failed])
  } catch (error) {
    if (given?.aborted !== true) throw error
  } finally {
    stopping.abort()
    // What it has begun to save must be saved before another run reads it.
    await listening.catch(() => undefined)
    await bot.stop()
    await sessions.close()
  }
  return bot.replies
}

interface Listening {
  readonly bot: RoomBot
  readonly clock: Clock
  readonly position: Position
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly afterEach: () => Promise<void>
}

/** Takes sync after sync, until the signal aborts. */
async function listen({ afterEach, bot, clock, position, signal, timeoutMs }: Listening): Promise<never> {
  let { since } = position
  let hasty = 0
  for (;;) {
    const beganMs = clock.now()
    const batch = await bot.sync(since, since === undefined ? 0 : timeoutMs)
    const isHasty = batch.rooms.length === 0 && clock.now() - beganMs < Math.max(timeoutMs / 2, 1)
    hasty = isHasty ? hasty + 1 : 0
    // Between two syncs nothing is listened to: a clock that jumps must not end a question then.
    clock.begin?.()
    try {
      await bot.take(batch, since)
      await afterEach()
    } finally {
      clock.end?.()
    }
    since = batch.next
    while (position.openCount >= maxWaiting) await bot.lessToDo()
    if (hasty > maxHasty) await pause(clock, hastyPauseMs, signal)
  }
}
