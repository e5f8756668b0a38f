import type { StandardEvents } from '../../protocol/event.ts'
import type { ModelDelta } from '../../models/port.ts'
import type { Entity } from '../../world/component.ts'
import type { EntiaError, EntiaErrorCode } from '../../world/entia-error.ts'
import type { OwnEvents, WorldEvent } from '../../world/input.ts'

/** When something happened. Of an event of a tick, that is when it ticked. */
export interface EventTime {
  /** World time, in milliseconds. */
  readonly nowMs: number
  /** Milliseconds since 1970 by the Runner's clock. */
  readonly dateMs: number
}

/** Where and when an event stands in a world's history. What a restart tells again has the same place and time. */
export interface EventPlace extends EventTime {
  readonly world: string
  readonly tick: number
  readonly index: number
  /** Of an event in a session's world: the sessions above and its own, outermost first. */
  readonly path?: readonly string[]
}

/** What a Runner tells besides the world's own events: as it happens, before any commit. */
export interface RunnerEvents {
  /** A piece of an answer. `index` counts the pieces of this try. */
  'model-delta': {
    readonly world: string
    readonly agent: Entity
    readonly effect: Entity
    readonly attempt: number
    readonly index: number
    readonly delta: ModelDelta
  }
  /** The pieces of this try count no more: it failed or was stopped. */
  'model-discarded': {
    readonly world: string
    readonly agent: Entity
    readonly effect: Entity
    readonly attempt: number
  }
  'tool-progressed': {
    readonly world: string
    readonly agent: Entity
    readonly effect: Entity
    readonly message: string
    /** From 0 to 1, where the tool can tell. */
    readonly fraction?: number | undefined
  }
  /** The provider asked to be left alone; its calls wait. */
  'provider-held': { readonly world: string; readonly provider: string; readonly untilMs: number }
  /**
   * A provider sent token counts that can be none (negative, a fraction, a text): they are unknown, and the reply stays.
   * `counts`: what was sent, by the name that the count has in `TokenUsage`.
   */
  'usage-dropped': {
    readonly world: string
    readonly agent: Entity
    readonly effect: Entity
    readonly attempt: number
    readonly model: string
    readonly counts: Readonly<Record<string, string>>
  }
  /** The journal of a session that was running cannot be read: the session fails. */
  'session-lost': { readonly world: string; readonly sessionId: string; readonly message: string }
  /**
   * The Runner has failed: it ticks no more, and nothing of what it was at is settled. The store has what was committed.
   * Without a listener for this, and if no `idle()`, `post()` or `change()` was awaited that rejects with it, the process
   * emits a warning with the code `ENTIA_RUNNER_FAILED`. With a `path`: that of a session, which fails with it.
   */
  'runner-failed': {
    readonly world: string
    readonly code: EntiaErrorCode
    readonly message: string
    readonly error: EntiaError
  }
  /**
   * The store once had newer ticks of this world: its log or its newest rows were deleted, a backup was put in its place,
   * or a power cut took commits that were not synced. The world goes on from what is there. `foundTick`: the
   * newest tick that is there, absent if there is none. If no listener hears it, it is a process warning.
   */
  'ticks-lost': {
    readonly world: string
    readonly foundTick?: number | undefined
    readonly newestTick: number
    readonly message: string
  }
  'commit-failed': { readonly world: string; readonly tick: number; readonly attempt: number; readonly message: string }
  'listener-failed': { readonly world: string; readonly event: string; readonly message: string }
}

/** The types of these events. */
export const runnerEventTypes = Object.keys({
  'model-delta': true,
  'model-discarded': true,
  'tool-progressed': true,
  'provider-held': true,
  'usage-dropped': true,
  'session-lost': true,
  'runner-failed': true,
  'commit-failed': true,
  'listener-failed': true,
  'ticks-lost': true,
} satisfies Record<keyof RunnerEvents, true>)

/** One of them, before its time is noted. */
export type StreamEvent = { [K in keyof RunnerEvents]: { readonly type: K } & RunnerEvents[K] }[keyof RunnerEvents]

type CommittedEvents = { readonly [K in keyof StandardEvents]: StandardEvents[K] & EventPlace }
type StreamedEvents = { readonly [K in keyof RunnerEvents]: RunnerEvents[K] & EventTime }
/** Of a program's own. */
type DeclaredEvents = { readonly [K in keyof OwnEvents]: OwnEvents[K] & EventPlace }
export type EventsByType = CommittedEvents & DeclaredEvents & StreamedEvents

/** Any event that a listener can be told. */
export type RunnerEvent =
  | { [K in keyof EventsByType]: { readonly type: K } & EventsByType[K] }[keyof EventsByType]
  | TickEvent

/** An event of a committed tick, of whatever type. */
export type TickEvent = WorldEvent & EventPlace
