import type { Message } from '../../protocol/message.ts'
import { oncePerObject, oncePerValue } from '../once-per.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { mostTokensOf, rawTokens, rawTokensOfText } from './estimate-tokens.ts'

/** An agent's request, as far as it is counted. */
export interface CountedRequest extends Stretch {
  readonly system: string
  readonly tools: readonly ToolDeclaration[]
  /** The array of the agent's log. */
  readonly messages: readonly Message[]
  /** Messages before and behind them: of a boundary, the tail. @default none */
  readonly others?: readonly Message[]
}

/** Messages of a log from one index to before another. */
export interface Stretch {
  /** @default 0 */
  readonly from?: number | undefined
  /** @default the log's length */
  readonly to?: number | undefined
}

/** The sum of a log's stretch. Overwritten at each step. */
interface Run {
  from: number
  to: number
  sum: number
  /** The stretch's last message: an undone tick removes messages, and others may take their places. */
  last: Message | undefined
}

/** A shorter stretch is summed as quickly as looked up. */
const minRemembered = 64

/** Sums up messages of logs, at the cost of what is new. */
class RunningSum {
  /** Of each log the stretch added up last. Only a shortcut: a log's array only grows, and a rewrite makes another one. */
  readonly #runs = new WeakMap<readonly Message[], Run>()
  readonly #amountOf: (message: Message) => number

  /** @param amountOf gives the same for the same message */
  constructor(amountOf: (message: Message) => number) {
    this.#amountOf = amountOf
  }

  of(messages: readonly Message[], from = 0, to = messages.length): number {
    const end = Math.min(to, messages.length)
    const known = this.#runs.get(messages)
    // From the end of what is known, which may lie behind the end that is asked for, or from nothing.
    const isNear = known !== undefined && isKnown(known, messages, from) && Math.abs(known.to - end) < end - from
    let at = isNear ? known.to : Math.min(from, end)
    let sum = isNear ? known.sum : 0
    for (; at < end; at++) sum += this.#at(messages, at)
    for (; at > end; at--) sum -= this.#at(messages, at - 1)
    if (end - from < minRemembered) return sum
    const last = messages[end - 1]
    if (known === undefined) this.#runs.set(messages, { from, to: end, sum, last })
    else {
      known.from = from
      known.to = end
      known.sum = sum
      known.last = last
    }
    return sum
  }

  #at(messages: readonly Message[], index: number): number {
    const message = messages[index]
    return message === undefined ? 0 : this.#amountOf(message)
  }
}

function isKnown(run: Run, messages: readonly Message[], from: number): boolean {
  return run.from === from && messages[run.to - 1] === run.last
}

const tokenSum = new RunningSum(rawTokens)
const mostSum = new RunningSum(mostTokensOf)

/** A request's tokens before any factor. Costs what is new since the log was last counted. */
export function rawTokensOfRequest({ system, tools, messages, others = [], from, to }: CountedRequest): number {
  let tokens = rawTokensOfSystem(system) + rawTokensOfTools(tools)
  for (const message of others) tokens += rawTokens(message)
  return tokens + tokenSum.of(messages, from, to)
}

/** An upper bound of that, without counting. */
export function mostTokensOfRequest({ system, tools, messages, others = [], from, to }: CountedRequest): number {
  // A unit of a text has 3 bytes at most.
  let most = 3 * system.length + bytesOfTools(tools)
  for (const message of others) most += mostTokensOf(message)
  return most + mostSum.of(messages, from, to)
}

/** The tokens of a log's stretch, before any factor. Costs what is new since it was last counted from there. */
export function runningCount(messages: readonly Message[], stretch: Stretch = {}): number {
  return tokenSum.of(messages, stretch.from, stretch.to)
}

const bytesOfTools = oncePerObject((tools: readonly ToolDeclaration[]) => Buffer.byteLength(JSON.stringify(tools)))

const rawTokensOfTool = oncePerObject(
  ({ name, description, inputSchema }: ToolDeclaration): number =>
    rawTokensOfText(name) + rawTokensOfText(description) + rawTokensOfText(JSON.stringify(inputSchema)),
)

const rawTokensOfTools = oncePerObject((tools: readonly ToolDeclaration[]): number =>
  tools.reduce((sum, tool) => sum + rawTokensOfTool(tool), 0),
)

/** System prompts are long, shared by many agents, and sent at each step. */
const rawTokensOfSystem = oncePerValue(rawTokensOfText)
