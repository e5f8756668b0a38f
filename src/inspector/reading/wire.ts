import type { WorldSummary } from './summaries.ts'
import type { RawComponent } from '../../world/raw-world.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { EntiaErrorCode } from '../../base/entia-error.ts'
import type { Mark } from './marks.ts'

export type {
  RequestQuery,
  RequestReply,
  RequestUsage,
  RequestPart,
  CallsReply,
  LogEditEntry,
  CallEntry,
  CacheReply,
  CacheEntry,
  CacheBreak,
  TokensQuery,
  TokensReply,
  SpendingQuery,
  SpendingReply,
} from './calls-wire.ts'

// What server and page say to each other: JSON by HTTP below the page's own address, with the token in the header
// `Authorization: Bearer …`. One route a type; `*Query` are its parameters.

/** `living`: driven by this program. `store`: read from where it is kept. `run`: saved, of a simulation or a recording. */
export type SourceKind = 'living' | 'store' | 'run'

/** What a page may do, besides looking. */
export interface Abilities {
  /** Post, answer, cancel, pause, go on, reset a ceiling. */
  readonly act: boolean
  /** Make a copy of a world as of a tick. */
  readonly fork: boolean
  /** Drive a copy with the models of this program, with the recorded answers, or leave it alone. */
  readonly drivers: readonly ('host' | 'recording' | 'none')[]
}

/** `GET api/source` */
export interface SourceInfo {
  readonly kind: SourceKind
  readonly title: string
  /** Of entia. */
  readonly version: string
  readonly can: Abilities
  /** Components that the program knows, by name. Others are shown as JSON. */
  readonly components: Readonly<Record<string, RawComponent>>
  /** Of a saved run. */
  readonly run?: RunFacts | undefined
}

/** What a simulation found. */
export interface RunFacts {
  readonly name: string
  readonly seed: number
  readonly atMs: number
  readonly hash?: string | undefined
  readonly violation?: RunViolation | undefined
  readonly laws: readonly { readonly name: string; readonly looks: number; readonly broken?: boolean | undefined }[]
  readonly faults: readonly RunFault[]
  /** A test to paste, which fails as this run did. */
  readonly test?: string | undefined
  /** What broke, the last messages and the test, as text. */
  readonly report?: string | undefined
  /** Fewer faults that break the same law, where they were looked for. */
  readonly shrunk?: { readonly faults: readonly JsonObject[]; readonly runs?: number | undefined } | undefined
  /** Whether the story can be loaded, so that the shrinker can run it. */
  readonly canShrink: boolean
}

export interface RunViolation {
  readonly law: string
  readonly message: string
  readonly world: string
  readonly tick: number
  readonly atMs: number
}

export interface RunFault {
  readonly atMs: number
  readonly name: string
  readonly world?: string | undefined
  readonly tick?: number | undefined
  readonly facts: JsonObject
}

/** A world of the source, as far as it is known without opening it. */
export interface WorldEntry {
  readonly name: string
  /** The root world that it belongs to; absent: it is one. */
  readonly root?: string | undefined
  /** The world that launched it, where that is known. */
  readonly parent?: string | undefined
  /** The newest tick. */
  readonly tick?: number | undefined
  /** Something of it was in flight after that. */
  readonly isBusy?: boolean | undefined
  /** It is driven by this program now. */
  readonly isDriven?: boolean | undefined
  /** Who else has it open. */
  readonly heldBy?: string | undefined
  readonly sizeBytes?: number | undefined
  /** Why it cannot be read. */
  readonly problem?: Problem | undefined
  /** It was made here as a copy of a world as of a tick. */
  readonly copyOf?: { readonly world: string; readonly tick: number } | undefined
  /** What a copy asks a person, since tools do not simply run in it. */
  readonly asks?: readonly CopyQuestion[] | undefined
  /** Why a copy went no further. */
  readonly stopped?: string | undefined
}

/** A call in a copy that the recording has no answer to. */
export interface CopyQuestion {
  readonly id: string
  readonly world: string
  readonly effect: number
  readonly agent?: number | undefined
  /** The tool, or the kind of the effect. */
  readonly tool: string
  readonly arguments: JsonObject
  /** The program has such a tool, which can be told to run. */
  readonly canRun: boolean
}

/** `GET api/worlds`, with `offset` and `limit` */
export interface WorldsReply {
  readonly worlds: readonly WorldEntry[]
  readonly total: number
}

/** `POST api/summaries`: what the agents of worlds do as of their newest ticks. */
export interface SummariesQuery {
  /** At most 200, those wanted most first. Of the others those that would take long are left out of the reply. */
  readonly worlds: readonly string[]
}
export interface SummariesReply {
  /** Unix time by the clock that drives the worlds; absent: none does. */
  readonly dateMs?: number | undefined
  readonly summaries: Readonly<Record<string, WorldSummary | { readonly problem: Problem }>>
}

/**
 * `GET api/ticks`: rows of a world behind a tick, in order, or as many as one reply takes. With `snapshot` the nearest snapshot at or
 * before `from`, and the rows behind that.
 */
export interface TicksQuery {
  readonly world: string
  /** The first tick that is wanted. @default the newest */
  readonly from?: number | undefined
  /** The last. */
  readonly to?: number | undefined
  readonly snapshot?: boolean | undefined
}
export interface TicksReply {
  readonly snapshot?: { readonly tick: number; readonly lines: readonly string[] } | undefined
  readonly rows: readonly TickRow[]
  /** The newest tick of the world. */
  readonly newest: number
  /** The oldest tick that can still be read. */
  readonly oldest?: number | undefined
  /** Further rows up to `to` were left out. */
  readonly isCut: boolean
}
/** `line` is one of the journal, for a `JournalCodec`. */
export interface TickRow {
  readonly tick: number
  readonly line: string
}

/** `GET api/marks`: what the scrubber shows of a range of ticks. At most 20,000 ticks a call. */
export interface MarksQuery {
  readonly world: string
  readonly from: number
  readonly to: number
}
export interface MarksReply {
  readonly marks: readonly Mark[]
  /** The range that was looked through. */
  readonly from: number
  readonly to: number
}

/**
 * `GET api/live`: server-sent events, until the page goes. `world` is followed from behind tick `after`, or from the
 * `Last-Event-ID`, which is that of its newest rows.
 */
export interface LiveQuery {
  readonly world?: string | undefined
  readonly after?: number | undefined
}
/** By the name of the event; its data is JSON. */
export interface LiveEvents {
  /** Rows of the followed world. `id` is the tick of the last. */
  readonly rows: { readonly world: string; readonly rows: readonly TickRow[]; readonly newest: number }
  /** Rows behind what the page has are not kept any more: it has to read a snapshot. */
  readonly reset: { readonly world: string; readonly newest: number }
  /** Worlds that are new, have moved, or are held by others than before; and names of those that are not there any more. */
  readonly worlds: { readonly changed: readonly WorldEntry[]; readonly gone?: readonly string[] | undefined }
  /** What a model of any world streams. */
  readonly delta: StreamedDelta
  /** What it had streamed of a call in flight when the page began to listen, or had missed some of it: it replaces what is known. */
  readonly streamed: StreamedText
  /** The source has ended, or failed. */
  readonly ended: { readonly message: string; readonly isFailure: boolean }
}
export interface StreamedDelta {
  readonly world: string
  readonly agent: number
  readonly effect: number
  readonly attempt: number
  readonly index: number
  /** A `ModelDelta`. `discarded`: this try failed, and what it has streamed is void. */
  readonly delta: { readonly type: string; readonly text?: string; readonly id?: string; readonly name?: string }
}
export interface StreamedText {
  readonly world: string
  readonly agent: number
  readonly effect: number
  readonly attempt: number
  readonly text: string
  /** Deltas below this index are in the text. */
  readonly deltas: number
}

/** `GET api/transcript`: by its key, or that of an agent, which is the agent of `session` if it is one's. */
export interface TranscriptReply {
  readonly lines: readonly string[] | undefined
}

/** `POST api/act` */
export type Action =
  | { readonly do: 'post'; readonly world: string; readonly agent: number; readonly text: string }
  | {
      readonly do: 'answer'
      readonly answers: readonly {
        readonly world: string
        readonly approval: string
        readonly approved: boolean
        readonly reason?: string | undefined
      }[]
    }
  | { readonly do: 'cancel'; readonly world: string; readonly agent: number; readonly reason?: string | undefined }
  /** The session that a world is. */
  | { readonly do: 'cancel-session'; readonly world: string }
  | { readonly do: 'pause' | 'go-on'; readonly world: string; readonly agent: number }
  | {
      readonly do: 'reset-ceiling'
      readonly world: string
      readonly agent: number
      readonly addSessionUsd?: number | undefined
    }
  | {
      readonly do: 'fork'
      readonly world: string
      readonly tick: number
      /** @default `<world>-fork-N` */
      readonly name?: string | undefined
      readonly edits?: readonly ForkEdit[] | undefined
      readonly driver: Abilities['drivers'][number]
    }
  /** Answers what a copy asks. */
  | {
      readonly do: 'reply'
      readonly world: string
      readonly question: string
      /** `run`: the program's own tool; `give`: this text is its result. */
      readonly how: 'run' | 'give' | 'refuse'
      readonly text?: string | undefined
    }
  /** Runs the shrinker on the seed of a saved run. */
  | { readonly do: 'shrink' }

/** A value to write before the copy goes on; `index`: of an item of a log. Checked by the component's schema. */
export interface ForkEdit {
  readonly entity: number
  readonly component: string
  readonly value: Json
  readonly index?: number | undefined
}

export type ActionReply =
  | {
      readonly ok: true
      readonly world?: string | undefined
      readonly tick?: number | undefined
      readonly run?: RunFacts | undefined
    }
  | { readonly ok: false; readonly problem: Problem }

/** What a person reads of an error. Every reply that is no 200 is one. */
export interface Problem {
  readonly code: EntiaErrorCode | 'forbidden' | 'not-found' | 'internal'
  readonly message: string
}
