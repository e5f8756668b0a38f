import { expect, type MatcherState } from 'vitest'
import type { SubagentSessionData } from '../../components/sessions/subagent-session.ts'
import { reportOf, type SweepResult } from '../sim/sweep.ts'
import type { SimulationResult } from '../sim/simulate.ts'
import type { Entity } from '../world/component.ts'
import type { JsonObject } from '../world/json.ts'
import {
  type ExpectedAnswer,
  haveAnswered,
  haveCalled,
  haveKeptLaws,
  haveSession,
  type Matched,
  type Matches,
} from './matchers.ts'
import type { Seen } from './world-queries.ts'

export type { Seen } from './world-queries.ts'

/** Matchers for worlds and simulated runs. They look at a `World`, or at all worlds of what `simulate()` gives. */
export interface WorldMatchers<R> {
  /** An agent's last text has this in it, or matches; `agent`: that agent of the root world. */
  toHaveAnswered(expected: ExpectedAnswer, agent?: Entity): R
  /** A model has called a tool, with arguments that have these among them. */
  toHaveCalled(tool: string, expected?: JsonObject): R
  /** There is a session whose record has these fields. */
  toHaveSession(expected: Partial<SubagentSessionData>): R
  /** Every law held, in a simulated run or in all runs of a sweep. What broke one is reported as the sweep reports it. */
  toHaveKeptLaws(): R
}

declare module 'vitest' {
  // The parameters are those of the interface that is added to.
  // eslint-disable-next-line typescript/no-unused-vars
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends WorldMatchers<R> {}
}

/** The matchers, for an `expect` of one's own. Importing this module adds them to that of vitest. */
export const worldMatchers = {
  toHaveAnswered: (seen: Seen, expected: ExpectedAnswer, agent?: Entity): Matched =>
    haveAnswered(seen, expected, agent),
  toHaveCalled(this: MatcherState, seen: Seen, tool: string, expected?: JsonObject): Matched {
    return haveCalled(seen, tool, expected, matchesOf(this))
  },
  toHaveSession(this: MatcherState, seen: Seen, expected: Partial<SubagentSessionData>): Matched {
    return haveSession(seen, expected, matchesOf(this))
  },
  toHaveKeptLaws: (run: SimulationResult | SweepResult): Matched => haveKeptLaws(run, () => reportOf(run)),
}

function matchesOf({ equals, utils }: MatcherState): Matches {
  return (actual, wanted) => equals(actual, wanted, [utils.subsetEquality])
}

expect.extend(worldMatchers)
