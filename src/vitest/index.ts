import { expect, type MatcherState } from 'vitest'
import type { SubagentSessionData } from '../../components/sessions/subagent-session.ts'
import { reportOf, type SweepResult } from '../sim/sweep.ts'
import type { SimulationResult } from '../sim/simulate.ts'
import type { Entity } from '../world/component.ts'
import type { JsonObject } from '../base/json.ts'
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

/** For a `World`, or all worlds of a `simulate()` result. */
export interface WorldMatchers<R> {
  /** The last text contains or matches this; `agent`: of the root world. */
  toHaveAnswered(expected: ExpectedAnswer, agent?: Entity): R
  /** With arguments that include these. */
  toHaveCalled(tool: string, expected?: JsonObject): R
  /** A session record has these fields. */
  toHaveSession(expected: Partial<SubagentSessionData>): R
  /** In a simulated run, or all runs of a sweep. */
  toHaveKeptLaws(): R
}

declare global {
  // vitest's own assertions are made of chai's. Its `Matchers` has other type parameters in each major version, and an
  // interface can be added to only with the same ones.
  // oxlint-disable-next-line typescript/no-namespace
  namespace Chai {
    interface Assertion extends WorldMatchers<void> {}
  }
}

/** For another `expect`. Importing this module extends vitest's. */
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
