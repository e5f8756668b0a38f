import type { StandardInput } from '../protocol/input.ts'
import type { RunnerEvent } from '../engine/loop/events.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { refuseUnknownOptions } from '../base/known-options.ts'
import { checkedRange, type Range } from './chance.ts'
import { describeValue, misuse } from './describe-value.ts'

/** What a simulated user does in response to an event. */
export type UserAct =
  /** Answers the approval of the event. */
  | { readonly approve: boolean; readonly reason?: string }
  /** Sends a message to an agent of the root world. @default `to`: the agent of the event */
  | { readonly say: string; readonly to?: Entity }
  /** Cancels the work of an agent of the root world. */
  | { readonly cancel: Entity; readonly reason?: string }
  /** Takes back the newest of what was said to an agent of the root world. @default `messages`: 1 */
  | { readonly rewind: Entity; readonly messages?: number }
  /** Stops the step under way of an agent of the root world. */
  | { readonly stopStep: Entity }
  /** Compacts the conversation of an agent of the root world. */
  | { readonly compact: Entity; readonly focus?: string }
  /** Marks the task of an agent of the root world as done. */
  | { readonly checkpoint: Entity; readonly note?: string }
  /** Lets an agent of the root world continue past its cost ceiling, and raises the ceiling of its lifetime. */
  | { readonly resetCostCeiling: Entity; readonly addSessionUsd?: number }
  /**
   * Changes the root world, like `runner.change`. If it throws, nothing changes and it is not retried. It may run twice
   * if the process dies before its commit is confirmed.
   */
  | { readonly change: (world: World) => void }

export type Deed = StandardInput | { readonly kind: 'change'; readonly change: (world: World) => void }

interface Heard {
  /** The last words of the event's agent, such as its answer at `turn-ended`; root world only. */
  readonly text: string | undefined
}

/**
 * A function of each event of every world. Keep it free of state: after a crash, events of the newest tick are emitted
 * again.
 */
export type UserBehaviour = (seen: RunnerEvent, heard: Heard) => UserAct | readonly UserAct[] | undefined

/** Options of a simulated user. */
export interface SimulatedUserOptions {
  /** How long each act takes, in milliseconds of world time. @default [500, 20000] */
  readonly reactionMs?: Range
}

/** A user who sends messages and answers approvals. */
export interface SimulatedUser {
  readonly behaviour: UserBehaviour
  readonly reactionMs: Range
}

/** A user whose acts are committed exactly once, whatever crashes. @throws `invalid-argument` */
export function simulatedUser(behaviour: UserBehaviour, options: SimulatedUserOptions = {}): SimulatedUser {
  if (typeof behaviour !== 'function') {
    throw misuse(`simulatedUser() takes a function of what is seen, got ${describeValue(behaviour)}.`)
  }
  refuseUnknownOptions('simulatedUser()', options, ['reactionMs'])
  const { reactionMs = [500, 20_000] } = options
  return { behaviour, reactionMs: checkedRange('simulatedUser(): reactionMs', reactionMs) }
}

const actFields = {
  approve: 'boolean',
  say: 'string',
  cancel: 'number',
  stopStep: 'number',
  rewind: 'number',
  compact: 'number',
  checkpoint: 'number',
  resetCostCeiling: 'number',
  change: 'function',
} as const

export function actFault(given: unknown): string | undefined {
  const acts: readonly unknown[] = given === undefined ? [] : Array.isArray(given) ? given : [given]
  const wrong = acts.findIndex((act) => !isAct(act))
  if (wrong < 0) return undefined
  const known = Object.keys(actFields).map((name) => `{ ${name} }`)
  return `gave ${describeValue(acts[wrong])}; expected nothing, or any of ${known.join(', ')}, or a list of these`
}

function isAct(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(actFields).some(([name, type]) => typeof Reflect.get(value, name) === type)
}
