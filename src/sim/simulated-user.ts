import type { RunnerEvent } from '../engine/loop/events.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { refuseUnknownOptions } from '../world/known-options.ts'
import { EntiaError } from '../world/entia-error.ts'
import { checkedRange, type Range } from './chance.ts'
import { describeValue } from './describe-value.ts'

/** What a simulated user does about something seen. */
export type UserAct =
  /** Answers the approval that was just asked for. */
  | { readonly approve: boolean; readonly reason?: string }
  /** Says something to an agent of the root world. @default `to`: the agent of the event */
  | { readonly say: string; readonly to?: Entity }
  /** Stops what an agent of the root world has under way. */
  | { readonly cancel: Entity; readonly reason?: string }
  /** Has the conversation of an agent of the root world compacted. */
  | { readonly compact: Entity; readonly focus?: string }
  /** Says that the task of an agent of the root world is done. */
  | { readonly checkpoint: Entity; readonly note?: string }
  /** Lets an agent of the root world go on that has reached its cost ceiling, and raises the ceiling of its life. */
  | { readonly resetCostCeiling: Entity; readonly addSessionUsd?: number }
  /**
   * Changes the root world, as a program does with `runner.change`. What it throws changes nothing, and is not tried again.
   * It may be made twice, if the process dies before its commit is confirmed.
   */
  | { readonly change: (world: World) => void }

/** What a user has in front of them besides the event. */
interface Heard {
  /** What the agent of the event has said last, such as its answer at `turn-ended`: agents of the root world alone. */
  readonly text: string | undefined
}

/**
 * What a simulated user does: acts as a function of what is seen, which is every event of every world. Keep it free of
 * counters and other state: after a crash, events of the newest tick are emitted again.
 */
export type UserBehaviour = (seen: RunnerEvent, heard: Heard) => UserAct | readonly UserAct[] | undefined

export interface SimulatedUserOptions {
  /** How long each act takes, in milliseconds of world time. @default [500, 20000] */
  readonly reactionMs?: Range
}

/** Sees events of all worlds, and answers, speaks or cancels. */
export interface SimulatedUser {
  readonly behaviour: UserBehaviour
  readonly reactionMs: Range
}

/** A simulated user. What they do goes in once, whatever crashes in between. @throws `invalid-argument` */
export function simulatedUser(behaviour: UserBehaviour, options: SimulatedUserOptions = {}): SimulatedUser {
  if (typeof behaviour !== 'function') {
    throw new EntiaError(
      'invalid-argument',
      `simulatedUser() takes a function of what is seen, got ${describeValue(behaviour)}.`,
    )
  }
  refuseUnknownOptions('simulatedUser()', options, ['reactionMs'])
  const { reactionMs = [500, 20_000] } = options
  return { behaviour, reactionMs: checkedRange('simulatedUser(): reactionMs', reactionMs) }
}

const actFields = {
  approve: 'boolean',
  say: 'string',
  cancel: 'number',
  compact: 'number',
  checkpoint: 'number',
  resetCostCeiling: 'number',
  change: 'function',
} as const

/** What is wrong with what a behaviour gives, which is often plain JavaScript; `undefined`: it is an act, or nothing. */
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
