import type { JsonObject } from '../../base/json.ts'
import type { AskedCall } from './questions.ts'
import type { WorldSpans } from './spans.ts'
import type { SessionName, WorldWaits } from './waits.ts'
import type { Problem } from './wire.ts'

// The part of what server and page say to each other that is about many worlds at once: see `wire.ts`.

/** `GET api/inbox`: what people are asked, in all worlds that have work in flight, the oldest first. */
export interface InboxQuery {
  /** Only this one, however long its arguments are. */
  readonly approval?: string | undefined
}
export interface InboxReply {
  readonly questions: readonly OpenQuestion[]
  /** Unix time by the source's clock. */
  readonly dateMs: number
}
export interface OpenQuestion extends Omit<AskedCall, 'arguments'> {
  /** Absent: they are long, and read when they are opened. */
  readonly arguments?: JsonObject | undefined
  /** World time and Unix time of the tick that asked; absent: it is not kept any more. */
  readonly askedAtMs?: number | undefined
  readonly askedDateMs?: number | undefined
  /** Of a file tool. */
  readonly change?: { readonly path: string; readonly lines: readonly string[]; readonly note?: string | undefined }
  /** The session that asks; absent: a root world's agent does. */
  readonly session?: SessionName | undefined
  /** Names of the sessions in `path`, by id, as far as the worlds that launched them are there. */
  readonly names: Readonly<Record<string, SessionName>>
  /** Its world is driven by this program, so that it can be answered here. */
  readonly isDriven: boolean
}

/** `GET api/waits`: who waits for whom or what in the tree of a root world. */
export interface WaitsQuery {
  readonly root: string
}
export interface WaitsReply {
  /** In the order of the tree. */
  readonly worlds: readonly Omit<WorldWaits, 'names'>[]
  /** Sessions, by id. */
  readonly names: Readonly<Record<string, SessionName>>
  /** Worlds that wait for each other: a deadlock. */
  readonly circle: readonly string[]
  /** Of a living program. */
  readonly pool?: PoolNow | undefined
  readonly queues: readonly QueueNow[]
  readonly dateMs: number
}
/** The pool that sessions take their slots from. */
export interface PoolNow {
  readonly cap: number
  readonly running: number
  /** Ids of sessions that wait for a slot: the first gets the next one. */
  readonly line: readonly string[]
}
/** The queue of a provider. */
export interface QueueNow {
  readonly name: string
  readonly running: number
  readonly waiting: number
  /** Absent: no limit. */
  readonly max?: number | undefined
  /** It begins nothing for so long: the provider has said so. */
  readonly heldMs?: number | undefined
}

/** `POST api/spans`: what worlds did, as bars of a timeline. */
export interface SpansQuery {
  /** Those wanted most first. Of the others those that would take long are left out of the reply, and all behind the first 100. */
  readonly worlds: readonly SpansOf[]
}
export interface SpansOf {
  readonly world: string
  /** Only what has begun or ended behind this tick. @default the newest 20,000 ticks */
  readonly after?: number | undefined
  /** With `after`: the last tick. @default the newest */
  readonly to?: number | undefined
}
export interface SpansReply {
  /** Unix time by the clock that drives the worlds; absent: none does. */
  readonly dateMs?: number | undefined
  readonly spans: Readonly<Record<string, WorldSpans | { readonly problem: Problem }>>
}
