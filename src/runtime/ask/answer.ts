import { LastTurn } from '../../../components/agent/turn.ts'
import { Ledger } from '../../../components/money/ledger.ts'
import type { CallUsage } from '../../protocol/usage.ts'
import type { Failure, Stop } from '../../protocol/failure.ts'
import { turnCost } from '../../rules/money/ledger-entry.ts'
import { toUsd } from '../../rules/money/usd.ts'
import { lastWords } from '../../rules/projection/text-of.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'

/** What a turn has come to. */
export interface Answer<Output = unknown> {
  readonly agent: Entity
  /** The final text. Where the turn was stopped: the line that closes it, such as `[turn cancelled]`. */
  readonly text: string
  /** The final answer as data, where a schema was asked for; `undefined` if the turn ended without one. */
  readonly output: Output | undefined
  readonly stop: Stop
  /** Of a turn that did not end well. */
  readonly failure?: Failure | undefined
  /** The final text was cut at the model's output limit. */
  readonly isTruncated: boolean
  /** Model calls of the turn. */
  readonly steps: number
  readonly toolCalls: number
  /** Tokens of the agent's own calls in this turn. `calls` has those that were cut as well, and each try of one. */
  readonly usage: Omit<CallUsage, 'costNanoUsd' | 'costUnknown'>
  /**
   * US dollars that the turn has cost until its end, with its subtasks and sessions. `undefined`: the cost of a call is unknown,
   * since its model has no price or it was cut before the provider said what it used.
   */
  readonly costUsd: number | undefined
}

/** The answer of the turn that an agent has just ended. */
export function answerOf(world: World, agent: Entity): Answer {
  const { failure, output, stop, steps, toolCalls, truncated, usage = { calls: 0 } } = world.read(agent, LastTurn)
  const { costNanoUsd: _, costUnknown: __, ...tokens } = usage
  const nanoUsd = turnCost(world.get(agent, Ledger), usage)
  return {
    agent,
    text: lastWords(world, agent),
    output,
    stop,
    failure,
    isTruncated: truncated === true,
    steps,
    toolCalls,
    usage: tokens,
    costUsd: nanoUsd === undefined ? undefined : toUsd(nanoUsd),
  }
}

/** The answer to a message that an agent did not take. */
export function refusedAnswer(agent: Entity, stop: Stop, failure: Failure): Answer {
  const nothing = { text: '', output: undefined, isTruncated: false, steps: 0, toolCalls: 0 }
  return { agent, ...nothing, stop, failure, usage: { calls: 0 }, costUsd: 0 }
}

/** The answer. @throws `turn-failed`, `budget-spent`: with the `failure` in the error's details */
export function goodAnswer(answer: Answer): Answer {
  const { agent, failure, stop } = answer
  if (stop !== 'failed' && stop !== 'budget-spent') return answer
  const code = stop === 'failed' ? 'turn-failed' : 'budget-spent'
  const why = failure === undefined ? '' : `: ${failure.kind}: ${failure.message}`
  const what = `The turn of agent ${agent} ${stop === 'failed' ? 'failed' : 'reached its budget'}${why}`
  throw new EntiaError(code, what, { agent, stop, failure })
}
