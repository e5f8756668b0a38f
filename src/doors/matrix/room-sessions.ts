import { join } from 'node:path'
import type { HostOptions } from '../../engine/effects/host-options.ts'
import type { Decision } from '../../protocol/policy.ts'
import type { ApprovalAnswer, ApprovalCall, ApproveCall } from '../../runtime/chat/approval.ts'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import { SessionFolder } from '../../runtime/chat/session-folder.ts'
import { openSession, sessionSetup } from '../../runtime/chat/session-setup.ts'
import { folders } from '../../runtime/config/folders.ts'
import type { Tool } from '../../tools/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { noticesTo } from '../../runtime/notices.ts'
import {
  callback,
  checkOptions,
  environment,
  filledText,
  flag,
  type ShapesOf,
  table,
  text,
} from '../../base/option-shapes.ts'
import { readConfig } from './matrix-config.ts'
import { type RoomRecord, RoomRecords } from './room-record.ts'

/** What the chat sessions of rooms are made with. What is not said here is read from `matrix.json`, then from the configuration. */
export interface MatrixSessionOptions {
  /** The system prompt. @default one for work in a folder */
  readonly system?: string | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** Names of built-in tools and of their categories, and tools of your own. */
  readonly tools?: readonly (string | Tool)[] | undefined
  /** The working folder of tools. @default that of the process */
  readonly cwd?: string | undefined
  /** Models of your own, and the clock that everything waits by. @default real time */
  readonly host?: HostOptions | undefined
  /** Writes a line for each tool call to stderr. @default false */
  readonly verbose?: boolean | undefined
  /** Where keys and folders are looked up. @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Gets what a person should know, such as that the homeserver is out of reach. @default a line on stderr each */
  readonly onNotice?: ((notice: string) => unknown) | undefined
}

/** A room that has a chat session. */
export interface MatrixRoom {
  readonly roomId: string
  /** `undefined`: it has none that is known. */
  readonly name: string | undefined
  /** Of its chat session, as `listSessions` has it. */
  readonly key: string
  /** How many of its turns were archived. */
  readonly archivedThrough: number
}

/** The chat sessions of rooms, one each. */
export interface MatrixSessions {
  /** All rooms that have one, by id; those that are not open too. */
  list(): Promise<readonly MatrixRoom[]>
  /**
   * The chat session of a room, opened or made. It stays open.
   * @throws by its promise: what `openSession` and `sessionSetup` throw
   */
  open(roomId: string): Promise<ChatSession>
  /** Closes those that are open. A turn under way goes on when they are opened again. Idempotent. */
  close(): Promise<void>
}

/** Where a call is asked about. */
export interface Place {
  readonly roomId: string
  /** Of the chat session. */
  key: string
}

/** Asks about a call of a room. */
export type AskRoom = (
  place: Readonly<Place>,
  call: ApprovalCall,
  decision: Decision,
  signal: AbortSignal,
) => Promise<ApprovalAnswer>

export const sessionOptionShapes: ShapesOf<MatrixSessionOptions> = {
  system: text,
  provider: filledText,
  model: filledText,
  tools: { wanted: 'a list of names and tools', fits: Array.isArray },
  cwd: filledText,
  host: table,
  verbose: flag,
  env: environment,
  onNotice: callback,
}

/** The chat sessions of rooms: each in its own store, found again after a restart. */
export function matrixSessions(options: MatrixSessionOptions = {}): MatrixSessions {
  checkOptions('matrixSessions', options, sessionOptionShapes)
  return new RoomSessions(options)
}

export class RoomSessions implements MatrixSessions {
  readonly options: MatrixSessionOptions
  readonly records: RoomRecords
  readonly #folder: SessionFolder
  readonly #open = new Map<string, Promise<ChatSession>>()
  #ask: AskRoom | undefined

  constructor(options: MatrixSessionOptions) {
    this.options = options
    const found = folders(options.env, options.cwd)
    this.records = new RoomRecords(found)
    this.#folder = new SessionFolder(join(found.data, 'sessions'))
  }

  /** Puts the questions of all rooms to somebody, until the function that it gives is called. */
  askBy(ask: AskRoom): () => void {
    this.#ask = ask
    return () => {
      if (this.#ask === ask) this.#ask = undefined
    }
  }

  transcript(key: string): string {
    return this.#folder.transcript(key)
  }

  async list(): Promise<readonly MatrixRoom[]> {
    const records = await this.records.list()
    return records.flatMap(({ archivedThrough, key, name, roomId }) =>
      key === undefined ? [] : [{ roomId, name, key, archivedThrough }],
    )
  }

  async open(roomId: string): Promise<ChatSession> {
    const known = this.#open.get(roomId)
    if (known !== undefined && !(await known).isClosed) return known
    const found = this.#open.get(roomId)
    if (found !== known && found !== undefined) return found
    const session = this.#made(roomId, ({ key }) => key, newKey)
    this.#open.set(roomId, session)
    // One that could not be opened is tried again.
    session.catch(() => this.#open.get(roomId) === session && this.#open.delete(roomId))
    return session
  }

  /** The chat session of one message alone; the same one after a crash. Closed by whoever asked for it. */
  async single(roomId: string, eventId: string): Promise<ChatSession> {
    const known = ({ single }: RoomRecord): string | undefined => (single?.eventId === eventId ? single.key : undefined)
    return this.#made(roomId, known, (key) => ({ single: { eventId, key } }))
  }

  async close(): Promise<void> {
    const sessions = await Promise.allSettled(this.#open.values())
    this.#open.clear()
    await Promise.all(
      sessions.flatMap((made) => (made.status === 'fulfilled' ? [made.value.close({ keepTurn: true })] : [])),
    )
  }

  async #made(
    roomId: string,
    known: (record: RoomRecord) => string | undefined,
    kept: (key: string) => Partial<RoomRecord>,
  ): Promise<ChatSession> {
    const place: Place = { roomId, key: known(await this.records.read(roomId)) ?? '' }
    const options = await this.#setup(place)
    const { key } = place
    if (key !== '') {
      try {
        return await openSession({ ...options, key })
      } catch (error) {
        // It was removed, or the program ended before anything was stored.
        if (!(error instanceof EntiaError) || error.code !== 'unknown-session') throw error
      }
    }
    const session = await sessionSetup({ ...options, channel: 'matrix' })
    place.key = session.key
    await this.records.update(roomId, kept(session.key))
    return session
  }

  async #setup(place: Place) {
    const { cwd, env, host, system, verbose } = this.options
    const onNotice = noticesTo(this.options.onNotice)
    const config = await readConfig(folders(env, cwd), onNotice)
    const isNamed = this.options.provider !== undefined || this.options.model !== undefined
    const { model, provider } = isNamed ? this.options : config
    const tools = this.options.tools ?? config.tools
    const approve: ApproveCall = async (call, decision, { signal }) => {
      const reason = `no approval channel (${decision.reason})`
      return this.#ask?.(place, call, decision, signal) ?? { approved: false, reason }
    }
    return { approve, cwd, env, host, model, onNotice, provider, system, tools, verbose }
  }
}

function newKey(key: string): Partial<RoomRecord> {
  return { key, archivedThrough: 0 }
}
