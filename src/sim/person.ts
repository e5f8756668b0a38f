import type { RunnerEvent } from '../engine/events.ts'
import type { Entity } from '../world/component.ts'
import type { Range } from './chance.ts'

/** What a simulated person does about something seen. */
export type PersonAct =
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
 * What a simulated person does: acts as a function of what is seen, which is every event of every world. Keep it free of
 * counters and other state: after a crash, events of the newest tick are told again.
 */
export type PersonBehaviour = (seen: RunnerEvent) => PersonAct | readonly PersonAct[] | undefined

export interface PersonOptions {
  /** How long each act takes, in milliseconds of world time. @default [500, 20000] */
  readonly reactionMs?: Range
}

/** Somebody outside the worlds, who sees events and answers, speaks or stops. */
export interface Person {
  readonly behaviour: PersonBehaviour
  readonly reactionMs: Range
}

/** A simulated person. What they do goes in once, whatever crashes in between. */
export function person(behaviour: PersonBehaviour, { reactionMs = [500, 20_000] }: PersonOptions = {}): Person {
  return { behaviour, reactionMs }
}
