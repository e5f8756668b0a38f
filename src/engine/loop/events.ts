import type { StandardEvents } from '../../protocol/event.ts'
import type { ModelDelta } from '../../models/port.ts'
import type { Entity } from '../../world/component.ts'
import type { EntiaError, EntiaErrorCode } from '../../base/entia-error.ts'
import type { OwnEvents, WorldEvent } from '../../world/input.ts'

/** When an event happened. For an event of a tick: the time of the tick. */
export interface EventTime {
  /** World time, in milliseconds. */
  readonly nowMs: number
  /** Milliseconds since 1970 by the Runner's clock. */
  readonly dateMs: number
}

/**
 * The place of an event in a world's history. An event that is repeated after a restart has the same. Listeners get a tick's
 * events after its effects have begun: a synchronous tool may run before they hear its `tool-called`.
 */
export interface EventPlace extends EventTime {
  readonly world: string
  readonly tick: number
  readonly index: number
  /** For an event of a session's world: ids of the sessions above and its own, outermost first. */
  readonly path?: readonly string[]
}

/** One try of a model call. */
interface TryPlace {
  readonly world: string
  readonly agent: Entity
  readonly effect: Entity
  readonly attempt: number
}

/** Events of a Runner, besides the world's own: emitted as they happen, before any commit. */
export interface RunnerEvents {
  /** A piece of a reply. `index` counts the pieces of this try. */
  'model-delta': TryPlace & {
    readonly index: number
    readonly delta: ModelDelta
  }
  /** This try failed or was stopped: discard its pieces. */
  'model-discarded': TryPlace
  'tool-progressed': {
    readonly world: string
    readonly agent: Entity
    readonly effect: Entity
    readonly message: string
    /** From 0 to 1, if the tool knows. */
    readonly fraction?: number | undefined
  }
  /** The provider asked for a pause; its calls wait. */
  'provider-held': { readonly world: string; readonly provider: string; readonly untilMs: number }
  /**
   * A provider sent invalid token counts (negative, a fraction, a text): they count as unknown, and the reply stays.
   * `counts`: what was sent, by name in `TokenUsage`.
   */
  'usage-dropped': TryPlace & {
    readonly model: string
    readonly counts: Readonly<Record<string, string>>
  }
  /** The journal of a session that was running cannot be read: the session fails. */
  'session-lost': { readonly world: string; readonly sessionId: string; readonly message: string }
  /**
   * The Runner has failed: it stops, and its work is not settled. The store has what was committed. Without a listener for
   * this, and without a pending `idle()`, `post()` or `change()` that rejects with it, the process emits a warning with the
   * code `ENTIA_RUNNER_FAILED`. With a `path`: the Runner of a session, which fails with it.
   */
  'runner-failed': {
    readonly world: string
    readonly code: EntiaErrorCode
    readonly message: string
    readonly error: EntiaError
  }
  /** The Runner was stopped: nothing of its World happens any more. With a `path`: that of a session. */
  'runner-stopped': { readonly world: string }
  /**
   * The store has lost newer ticks of this world: its log or newest rows were deleted, a backup replaced it, or a power cut
   * took commits that were not synced. The world continues from `foundTick`, the newest tick that is there (absent: none).
   * Without a listener, it is a process warning.
   */
  'ticks-lost': {
    readonly world: string
    readonly foundTick?: number | undefined
    readonly newestTick: number
    readonly message: string
  }
  /** Of a world that is followed: its ticks up to this one are known, their events are not. */
  'ticks-skipped': { readonly world: string; readonly tick: number }
  /** A letter that lay in the store for this world is none that it can take. It was removed. */
  'letter-refused': { readonly world: string; readonly letter: number; readonly message: string }
  /**
   * No worker of a fleet could drive this world, or this session's world, for a minute. `message`: what one of them lacks. Emitted
   * by workers.
   */
  'world-unfit': {
    readonly world: string
    readonly forMs: number
    readonly code?: EntiaErrorCode | undefined
    readonly message: string
  }
  'commit-failed': { readonly world: string; readonly tick: number; readonly attempt: number; readonly message: string }
  'listener-failed': { readonly world: string; readonly event: string; readonly message: string }
  /** An observer of a chat session threw, or rejected, when it got a call. That changes nothing. */
  'observer-failed': {
    readonly world: string
    readonly callId: string
    readonly tool: string
    readonly message: string
  }
}

export const runnerEventTypes = Object.keys({
  'model-delta': true,
  'model-discarded': true,
  'tool-progressed': true,
  'provider-held': true,
  'usage-dropped': true,
  'session-lost': true,
  'runner-failed': true,
  'runner-stopped': true,
  'letter-refused': true,
  'ticks-skipped': true,
  'world-unfit': true,
  'commit-failed': true,
  'listener-failed': true,
  'observer-failed': true,
  'ticks-lost': true,
} satisfies Record<keyof RunnerEvents, true>)

/** One of them, without its time. */
export type StreamEvent = { [K in keyof RunnerEvents]: { readonly type: K } & RunnerEvents[K] }[keyof RunnerEvents]

type CommittedEvents = { readonly [K in keyof StandardEvents]: StandardEvents[K] & EventPlace }
type StreamedEvents = { readonly [K in keyof RunnerEvents]: RunnerEvents[K] & EventTime }
type DeclaredEvents = { readonly [K in keyof OwnEvents]: OwnEvents[K] & EventPlace }
/** The fields of each event, by its type. */
export type EventsByType = CommittedEvents & DeclaredEvents & StreamedEvents

/** An event as listeners get it. */
export type RunnerEvent =
  | { [K in keyof EventsByType]: { readonly type: K } & EventsByType[K] }[keyof EventsByType]
  | TickEvent

/** An event of a committed tick. */
export type TickEvent = WorldEvent & EventPlace
