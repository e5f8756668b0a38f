import type { Message } from '../../components/message.ts'
import type { ToolDeclaration } from '../../components/tool-declaration.ts'
import { rawTokens, rawTokensOfText } from './estimate-tokens.ts'

/** What an agent sends its model, as far as it is counted. */
export interface CountedRequest extends Stretch {
  readonly system: string
  readonly tools: readonly ToolDeclaration[]
  /** The array of the agent's log. */
  readonly messages: readonly Message[]
  /** What stands before and behind them: the message of a boundary, the tail. @default none */
  readonly others?: readonly Message[]
}

/** Messages of a log from one index up to, not including, another. */
export interface Stretch {
  /** @default 0 */
  readonly from?: number | undefined
  /** @default the log's length */
  readonly to?: number | undefined
}

/** What is known of a log: how many tokens the messages from one index up to another have. */
interface Run {
  readonly from: number
  readonly to: number
  readonly tokens: number
  /** The last of these: a tick that is undone takes messages back, and others may come in their places. */
  readonly last: Message | undefined
}

/** Of each log the stretch counted last. Only a shortcut: a log's array only grows, and a rewrite makes another one. */
const runs = new WeakMap<readonly Message[], Run>()
/** From so many messages on a stretch is remembered: a shorter one is added up as quickly. */
const minRemembered = 64
const declared = new WeakMap<object, number>()
const texts = new Map<string, number>()
/** So many texts are remembered before all are forgotten. */
const maxTexts = 1_000

/** The tokens of a request before any factor. Costs what is new since the agent's log was last counted. */
export function rawTokensOfRequest({ system, tools, messages, others = [], from, to }: CountedRequest): number {
  let tokens = rawTokensOfLastingText(system) + rawTokensOfTools(tools)
  for (const message of others) tokens += rawTokens(message)
  return tokens + runningCount(messages, { from, to })
}

/** The tokens of messages of a log, before any factor. Costs what is new since the log was last counted from there. */
export function runningCount(messages: readonly Message[], { from = 0, to = messages.length }: Stretch = {}): number {
  const end = Math.min(to, messages.length)
  let { to: at, tokens } = knownRun(messages, from, end)
  for (; at < end; at++) tokens += rawTokensAt(messages, at)
  for (; at > end; at--) tokens -= rawTokensAt(messages, at - 1)
  if (end - from >= minRemembered) runs.set(messages, { from, to: end, tokens, last: messages[end - 1] })
  return tokens
}

/** Where to begin to count: at the end of what is known, which may lie behind the end that is asked for, or at nothing. */
function knownRun(messages: readonly Message[], from: number, end: number): { to: number; tokens: number } {
  const known = runs.get(messages)
  const holds = known !== undefined && known.from === from && messages[known.to - 1] === known.last
  return holds && Math.abs(known.to - end) < end - from ? known : { to: Math.min(from, end), tokens: 0 }
}

function rawTokensAt(messages: readonly Message[], index: number): number {
  const message = messages[index]
  return message === undefined ? 0 : rawTokens(message)
}

/** Names, descriptions and schemas of tools. Those of a World are frozen, and each list, and each tool, is counted once. */
function rawTokensOfTools(tools: readonly ToolDeclaration[]): number {
  return once(tools, () => tools.reduce((sum, tool) => sum + once(tool, () => rawTokensOfTool(tool)), 0))
}

function rawTokensOfTool({ name, description, inputSchema }: ToolDeclaration): number {
  return rawTokensOfText(name) + rawTokensOfText(description) + rawTokensOfText(JSON.stringify(inputSchema))
}

function once(object: object, count: () => number): number {
  let tokens = declared.get(object)
  if (tokens !== undefined) return tokens
  tokens = count()
  if (Object.isFrozen(object)) declared.set(object, tokens)
  return tokens
}

/** System prompts are long, shared by many agents, and sent at each step. */
function rawTokensOfLastingText(text: string): number {
  let tokens = texts.get(text)
  if (tokens !== undefined) return tokens
  if (texts.size >= maxTexts) texts.clear()
  texts.set(text, (tokens = rawTokensOfText(text)))
  return tokens
}
