import type { Clock } from '../../engine/loop/clock.ts'
import type { Failure, Stop } from '../../protocol/failure.ts'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { type Homeserver, isRefusal } from './homeserver.ts'
import type { MatrixConfig } from './matrix-config.ts'
import { messageParts } from './message-parts.ts'
import { pause } from './pause.ts'
import type { Position } from './position.ts'
import { ReactionApprovals } from './reaction-approvals.ts'
import { shortHash } from './room-record.ts'
import type { RoomSessions } from './room-sessions.ts'
import {
  readPage,
  readSync,
  type RoomEvent,
  type SyncBatch,
  syncFilter,
  type SyncRoom,
  textOfMessage,
} from './sync-batch.ts'

interface RoomBotParts {
  readonly config: MatrixConfig
  readonly home: Homeserver
  readonly clock: Clock
  readonly position: Position
  readonly sessions: RoomSessions
  /** Each message has a chat session of its own. */
  readonly isFresh: boolean
  /** A room whose chat session cannot be worked with is tried again. @default it is a failure of all */
  readonly isPatient?: boolean
  readonly signal: AbortSignal
  readonly onNotice: (notice: string) => unknown
  /** Called when an approval begins to wait for a reaction. */
  readonly onQuestion?: (() => void) | undefined
}

/** Something of a sync that has to be done, once. */
interface Task {
  /** Of its event. */
  readonly id: string
  readonly roomId: string
  readonly run: () => Promise<void>
}

/** Pages of a room's history that are read where a sync leaves messages out, of 100 events each. */
const maxGapPages = 50
const pageEvents = 100
/** Waits before a room is tried again. */
const firstRetryMs = 60_000
const maxRetryMs = 3_600_000
/** What can be wrong with the stored chat session of one room. */
const ofOneRoom: ReadonlySet<string> = new Set([
  'corrupt-journal',
  'corrupt-snapshot',
  'missing-component',
  'missing-handler',
  'newer-version',
  'session-in-use',
  'store-failed',
  'system-failed',
  'unknown-component',
])
const noMessages =
  'This room is encrypted, and I cannot read encrypted messages. Please invite me to a room without encryption.'

/** Answers what syncs bring: messages of one room in their order, rooms side by side. */
export class RoomBot {
  readonly reactions: ReactionApprovals
  readonly #parts: RoomBotParts
  /** The end of each room's line. */
  readonly #lines = new Map<string, Promise<void>>()
  /** Rooms that were found to be without encryption. */
  readonly #plain = new Set<string>()
  readonly #failed = Promise.withResolvers<never>()
  readonly #stopAsking: () => void
  #replies = 0

  constructor(parts: RoomBotParts) {
    const { clock, config, home, onQuestion, sessions } = (this.#parts = parts)
    const { approvers, autoApproveAsks } = config
    this.reactions = new ReactionApprovals({ home, clock, approvers, autoApproveAsks, onOpen: onQuestion })
    this.#stopAsking = sessions.askBy((...asked) => this.reactions.ask(...asked))
    this.#failed.promise.catch(() => undefined)
  }

  /** Messages answered so far. */
  get replies(): number {
    return this.#replies
  }

  /** Rejects with the first thing that cannot be gone on with. */
  get failed(): Promise<never> {
    return this.#failed.promise
  }

  /** Asks for what is new. @throws by its promise: as `Homeserver.request` */
  async sync(since: string | undefined, holdMs: number): Promise<SyncBatch> {
    const { home } = this.#parts
    const query = { filter: syncFilter, timeout: holdMs, ...(since !== undefined && { since }) }
    const batch = readSync(await home.request({ method: 'GET', path: '/sync', query, holdMs }), home.userId)
    if (batch !== undefined) return batch
    throw new EntiaError('matrix-failed', 'The homeserver answered /sync with something else than a sync.')
  }

  /**
   * Begins what a sync asks for, and saves how far it goes once all before it is done.
   * @param since where the sync began; without, what it has is history
   */
  async take(batch: SyncBatch, since: string | undefined): Promise<void> {
    const { position, sessions } = this.#parts
    const tasks = batch.invitations.flatMap(({ roomId, sender }) => this.#invited(roomId, sender, batch.next))
    for (const room of batch.rooms) {
      if (room.name !== undefined) await sessions.records.update(room.id, { name: room.name })
      if (since !== undefined) tasks.push(...(await this.#tasksOf(room, since)))
    }
    const taken = tasks.filter(({ id }) => position.take(id))
    for (const task of taken) this.#queue(task)
    await position.moveBehind(
      batch.next,
      taken.map(({ id }) => id),
    )
  }

  /** Looks for reactions alone. */
  see(batch: SyncBatch): void {
    for (const { events } of batch.rooms) for (const event of events) this.reactions.see(event)
  }

  /** Resolves when all that was begun is done. */
  async done(): Promise<void> {
    await Promise.race([Promise.all(this.#lines.values()), this.failed])
  }

  /** Resolves when one of the lines is done. */
  async lessToDo(): Promise<void> {
    await Promise.race([...this.#lines.values(), this.failed])
  }

  /** What is under way is left; it goes on after the next start. */
  async stop(): Promise<void> {
    await Promise.all(this.#lines.values())
    this.#stopAsking()
  }

  #queue({ id, roomId, run }: Task): void {
    const { position, signal } = this.#parts
    const before = this.#lines.get(roomId)
    const line = (async () => {
      await before
      if (signal.aborted) return
      try {
        await this.#untilDone(roomId, run)
        signal.throwIfAborted()
        await position.answered(id)
      } catch (error) {
        if (!signal.aborted) this.#failed.reject(error)
      }
    })()
    this.#lines.set(roomId, line)
    void line.then(() => this.#lines.get(roomId) === line && this.#lines.delete(roomId))
  }

  /** Does something of a room. What stands in the way of that room alone is waited out; the messages behind it wait, too. */
  async #untilDone(roomId: string, run: () => Promise<void>): Promise<void> {
    const { clock, isPatient, onNotice, signal } = this.#parts
    for (let waitMs = firstRetryMs; ; waitMs = Math.min(2 * waitMs, maxRetryMs)) {
      try {
        return await run()
      } catch (error) {
        signal.throwIfAborted()
        if (isPatient !== true || !(error instanceof EntiaError) || !ofOneRoom.has(error.code)) throw error
        onNotice(`The room ${roomId} is tried again in ${waitMs / 60_000} min: ${error.message}`)
        await pause(clock, waitMs, signal)
      }
    }
  }

  /** An invitation is one event; invited again after a leave, the account gets another sync. */
  #invited(roomId: string, sender: string, next: string): Task[] {
    const { config, onNotice } = this.#parts
    if (!config.users.includes(sender)) {
      onNotice(`An invitation to ${roomId} by ${sender} is left alone: it is none of the users of matrix.json.`)
      return []
    }
    return [{ id: `invitation ${roomId} ${next}`, roomId, run: () => this.#join(roomId) }]
  }

  async #join(roomId: string): Promise<void> {
    const { home, onNotice } = this.#parts
    try {
      await home.join(roomId)
    } catch (error) {
      if (!(error instanceof EntiaError) || error.details['errcode'] === 'M_UNKNOWN_TOKEN') throw error
      onNotice(`The room ${roomId} cannot be joined: ${error.message}`)
    }
  }

  async #tasksOf(room: SyncRoom, since: string): Promise<Task[]> {
    const { config, home } = this.#parts
    const { id: roomId, isEncrypted } = room
    if (isEncrypted) this.#plain.delete(roomId)
    const missed = room.gapEnd === undefined ? [] : await this.#missed(roomId, room.gapEnd, since)
    const tasks: Task[] = []
    for (const event of [...missed, ...room.events]) {
      this.reactions.see(event)
      if (event.sender === home.userId || !config.users.includes(event.sender)) continue
      const text = textOfMessage(event)
      if (text !== undefined) tasks.push({ id: event.id, roomId, run: () => this.#answer(roomId, event.id, text) })
      if (event.type === 'm.room.encrypted') tasks.push({ id: event.id, roomId, run: () => this.#sayEncrypted(roomId) })
    }
    return tasks
  }

  /** Events between two syncs that the later one has left out, oldest first. */
  async #missed(roomId: string, gapEnd: string, since: string): Promise<readonly RoomEvent[]> {
    const { home, onNotice } = this.#parts
    const path = `/rooms/${encodeURIComponent(roomId)}/messages`
    const pages: (readonly RoomEvent[])[] = []
    let from: string | undefined = gapEnd
    while (from !== undefined && pages.length < maxGapPages) {
      const query = { dir: 'b', from, to: since, limit: pageEvents }
      const { end, events }: ReturnType<typeof readPage> = readPage(
        await home.request({ method: 'GET', path, query, isHeld: true }),
        home.userId,
      )
      pages.unshift(events)
      from = end === from ? undefined : end
    }
    if (from !== undefined)
      onNotice(`In ${roomId} more than ${maxGapPages * pageEvents} events were missed; older ones are not answered.`)
    return pages.flat()
  }

  async #answer(roomId: string, eventId: string, text: string): Promise<void> {
    const { home, isFresh, onNotice, sessions, signal } = this.#parts
    if (await this.#isEncrypted(roomId)) return this.#sayEncrypted(roomId)
    const session = await (isFresh ? sessions.single(roomId, eventId) : sessions.open(roomId))
    const stop = (): void => void session.runner.stop()
    signal.addEventListener('abort', stop)
    try {
      signal.throwIfAborted()
      const reply = await this.#reply(session, text, eventId)
      for (const [index, body] of messageParts(reply).entries()) {
        await home.send(roomId, { msgtype: 'm.text', body }, `entia-${shortHash(eventId)}-${index}`)
      }
      this.#replies++
    } catch (error) {
      if (!isRefusal(error)) throw error
      onNotice(`A reply cannot be sent to ${roomId}, and is given up: ${error.message}`)
    } finally {
      signal.removeEventListener('abort', stop)
      if (isFresh) await session.close({ keepTurn: true })
    }
  }

  /** What a chat session answers to a message; that of before, if it has had the message before a crash. */
  async #reply(session: ChatSession, text: string, eventId: string): Promise<string> {
    try {
      const answer = await session.ask(text, { id: eventId })
      return answer.text === '' ? closing(answer.stop, answer.failure) : answer.text
    } catch (error) {
      const isEnd = error instanceof EntiaError && (error.code === 'turn-failed' || error.code === 'budget-spent')
      if (!isEnd) throw error
      const { failure, stop } = error.details as { readonly failure?: Failure; readonly stop: Stop }
      this.#parts.onNotice(error.message)
      return closing(stop, failure)
    }
  }

  async #isEncrypted(roomId: string): Promise<boolean> {
    const { home, onNotice } = this.#parts
    if (this.#plain.has(roomId)) return false
    try {
      if ((await home.state(roomId, 'm.room.encryption')) !== undefined) return true
      this.#plain.add(roomId)
    } catch (error) {
      if (!isRefusal(error)) throw error
      onNotice(`It cannot be seen whether ${roomId} is encrypted: ${error.message}`)
    }
    return false
  }

  async #sayEncrypted(roomId: string): Promise<void> {
    const { home, onNotice, sessions } = this.#parts
    const { isEncrypted } = await sessions.records.read(roomId)
    if (isEncrypted === true) return
    onNotice(`The room ${roomId} is encrypted, and messages in it are not answered.`)
    try {
      await home.send(roomId, { msgtype: 'm.notice', body: noMessages }, `entia-encrypted-${shortHash(roomId)}`)
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
    await sessions.records.update(roomId, { isEncrypted: true })
  }
}

function closing(stop: Stop, failure: Failure | undefined): string {
  return stop === 'cancelled' ? '[turn cancelled]' : `[turn failed: ${failure?.kind ?? stop}]`
}
