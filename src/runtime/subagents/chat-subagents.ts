import type { Subagents, WaitOptions } from '../../engine/children/subagents.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { type ToolPreset, toolPresets } from '../../rules/delegation/declarations.ts'
import { estimateTokens } from '../../rules/tokens/estimate-tokens.ts'
import type { SessionStatus } from '../../protocol/delegation.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import { toUsd } from '../../rules/money/usd.ts'
import { knownCost } from '../../rules/tokens/token-counts.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { didYouMean } from '../../base/near-names.ts'
import {
  checkOptions,
  filledText,
  flag,
  listOf,
  givenName,
  oneOf,
  refuseMisfit,
  type ShapesOf,
} from '../../base/option-shapes.ts'
import { assertSession } from '../chat/assert-session.ts'
import type { ChatSession } from '../chat/chat-session.ts'
import { knownModel } from '../models/choose-provider.ts'

/** What a subagent is to do, and with what. */
export interface SpawnSubagentOptions {
  /** All that it has to know: it sees nothing of the conversation. */
  readonly task: string
  /** Of the chat session's provider; or `provider/model`. @default the chat session's */
  readonly model?: string | undefined
  /** Names of tools that the chat session has; none: an empty list. They count over a preset. */
  readonly tools?: readonly string[] | undefined
  /** Those of the chat session's tools that such work needs. @default the configuration's, else 'investigate' */
  readonly preset?: ToolPreset | undefined
  /** What it may cost at most, in US dollars; a model without a price is then refused. @default what the chat session has left */
  readonly costUsd?: number | undefined
  /** `parent`: the chat session's `approve` is asked about its calls. @default calls that need it are declined */
  readonly approvals?: 'parent' | undefined
}

/** Options of `querySubagent`. */
export interface QuerySubagentOptions {
  /** @default true */
  readonly wait?: boolean | undefined
  /** Longest wait for the reply. @default 60000 */
  readonly timeoutMs?: number | undefined
  /**
   * A variable of the subagent's `run_js`, or a handle of it. When it has answered, the value is kept for the chat session's agent:
   * the reply ends with `[stored as .h_001]`, or says why it was not.
   */
  readonly returnName?: string | undefined
}

/** Options of `collectSubagent`. */
export interface CollectSubagentOptions {
  /** Waits for what is under way. @default false */
  readonly wait?: boolean | undefined
  /** Longest wait. @default 60000 */
  readonly timeoutMs?: number | undefined
}

/** A subagent of a chat session. */
export interface ListedSubagent {
  readonly id: string
  /** 1, 2, 3 … in its chat session; never used again. */
  readonly number: number
  /** Of an ended one: the beginning, if it is long. */
  readonly task: string
  /** `provider/model`. */
  readonly model: string
  readonly status: SessionStatus
  /** Unix time; `undefined`: the model launched it. */
  readonly startedAt: number | undefined
  /** Time in which the chat session was open. */
  readonly ageMs: number
  /** Until its deadline; `undefined`: it has none, or does not run. */
  readonly remainingMs: number | undefined
  /** A result or a reply is under way, or waits to be collected. */
  readonly pending: boolean
  readonly usage: SessionUsage
  /** US dollars; `undefined`: a price is unknown. */
  readonly costUsd: number | undefined
  /** Estimated size of its conversation; `undefined` while it is busy, or where its World is gone. */
  readonly contextTokens: number | undefined
}

/**
 * Gives a task to a new subagent, which works on it at once, in the background. Its tools are fixed now. Gives its id; take
 * what it finds with `collectSubagent`.
 *
 * @throws by its promise: `invalid-argument` (a tool that the chat session lacks too), `unknown-provider`, `limit-reached`,
 * `session-closed`
 */
export async function spawnSubagent(session: ChatSession, options: SpawnSubagentOptions): Promise<string> {
  assertSession('spawnSubagent', session)
  checkOptions('spawnSubagent', options, spawnShapes)
  const { approvals, costUsd, model, preset, task, tools } = options
  refuseMisfit('spawnSubagent', 'task', task, filledText)
  const whole = model === undefined ? undefined : modelOf(session, model)
  const subagents = await subagentsOf(session)
  const own = (session.world.get(session.agent, ToolRegistry)?.tools ?? []).map(({ name }) => name)
  const granted = tools ?? toolPresets[preset ?? session.subagentPreset].filter((name) => own.includes(name))
  const lacking = granted.find((name) => !own.includes(name))
  if (lacking !== undefined) {
    const there = own.length === 0 ? 'none' : own.join(', ')
    const what = `spawnSubagent: tools: the chat session has no tool named '${lacking}'.${didYouMean(lacking, own)}`
    throw new EntiaError('invalid-argument', `${what} It has: ${there}.`, { tool: lacking })
  }
  const { sessionId } = await subagents.spawnWorker({ prompt: task, tools: granted, model: whole, approvals, costUsd })
  return sessionId
}

/**
 * Asks a subagent a further question once its task is done. Gives the reply; `undefined` at the time-out, when the question
 * goes on and its reply can be collected; without waiting, the subagent's full id.
 *
 * @param id the full id, a unique prefix of it (longer than `session-`), or the number
 * @throws by its promise: `session-busy` with the beginning of what it works on, `unknown-session`, `ambiguous-id`,
 * `not-queryable`, `session-failed`, `invalid-argument`, `session-closed`
 */
export async function querySubagent(
  session: ChatSession,
  id: string | number,
  prompt: string,
  options: QuerySubagentOptions = {},
): Promise<string | undefined> {
  assertSession('querySubagent', session)
  checkOptions('querySubagent', options, queryShapes)
  const { returnName } = options
  const more = returnName === undefined ? {} : { returnName }
  return (await subagentsOf(session)).query(id, prompt, { ...given(options), ...more })
}

/**
 * Takes what a subagent has answered, each answer once: that to its task first, then those to questions. `undefined` while it is
 * under way.
 *
 * @param id as for `querySubagent`
 * @throws by its promise: `nothing-pending`, `session-failed` for a task or question that failed, `unknown-session`,
 * `ambiguous-id`, `invalid-argument`, `session-closed`
 */
export async function collectSubagent(
  session: ChatSession,
  id: string | number,
  options: CollectSubagentOptions = {},
): Promise<string | undefined> {
  assertSession('collectSubagent', session)
  checkOptions('collectSubagent', options, waitShapes)
  return (await subagentsOf(session)).collect(id, { wait: false, ...given(options) })
}

/** The subagents of a chat session by number, ended ones too. @throws by its promise: `session-closed` */
export async function listSubagents(session: ChatSession): Promise<readonly ListedSubagent[]> {
  assertSession('listSubagents', session)
  const subagents = await subagentsOf(session)
  const listed = subagents.list().toSorted((a, b) => a.sequence - b.sequence)
  return Promise.all(
    listed.map(
      async ({ ageMs, model, pending, prompt, remainingMs, sequence, sessionId, startedAt, status, usage }) => ({
        id: sessionId,
        number: sequence,
        task: prompt,
        model,
        status,
        startedAt,
        ageMs,
        remainingMs,
        pending,
        usage,
        costUsd: costOf(usage),
        contextTokens: await contextTokens(subagents, sessionId),
      }),
    ),
  )
}

/**
 * Ends a subagent, with what it works on, and refuses questions to it from then on. False if there is none under this name, and
 * in a chat session that is closed.
 *
 * @param id as for `querySubagent`; anything else names none
 * @throws by its promise: `invalid-argument` for what is no chat session
 */
export async function killSubagent(session: ChatSession, id: string | number): Promise<boolean> {
  assertSession('killSubagent', session)
  try {
    return await (await subagentsOf(session)).kill(id)
  } catch (error) {
    if (error instanceof EntiaError && namesNone.has(error.code)) return false
    throw error
  }
}

const namesNone: ReadonlySet<string> = new Set(['ambiguous-id', 'invalid-argument', 'session-closed'])

async function subagentsOf(session: ChatSession): Promise<Subagents> {
  await session.start()
  return session.runner.subagents(session.agent)
}

function modelOf(session: ChatSession, name: string): string {
  return name.includes('/')
    ? knownModel(name, session.provider, session.runner.host.providerNames)
    : `${session.provider}/${name}`
}

function costOf(usage: SessionUsage): number | undefined {
  const nanoUsd = knownCost(usage)
  return nanoUsd === undefined ? undefined : toUsd(nanoUsd)
}

/** Only of a subagent that rests: reading one at work would wait for it. */
async function contextTokens(subagents: Subagents, id: string): Promise<number | undefined> {
  if (subagents.isBusy(id)) return undefined
  const transcript = await subagents.transcript(id).catch(() => undefined)
  if (transcript === undefined) return undefined
  const plain = { factor: 1 }
  return estimateTokens(transcript.systemPrompt, plain) + estimateTokens(transcript.messages, plain)
}

function given({ timeoutMs, wait }: WaitOptions | QuerySubagentOptions): WaitOptions {
  return { ...(timeoutMs !== undefined && { timeoutMs }), ...(wait !== undefined && { wait }) }
}

const spawnShapes: ShapesOf<SpawnSubagentOptions> = {
  task: filledText,
  model: givenName,
  tools: listOf(filledText),
  preset: oneOf(...(Object.keys(toolPresets) as ToolPreset[])),
  approvals: oneOf('parent'),
  costUsd: { wanted: 'US dollars above 0', fits: (value) => Number.isFinite(value) && (value as number) > 0 },
}

const waitShapes: ShapesOf<CollectSubagentOptions> = {
  wait: flag,
  timeoutMs: {
    wanted: 'a time in milliseconds, 0 or more',
    fits: (value) => Number.isFinite(value) && (value as number) >= 0,
  },
}

const queryShapes: ShapesOf<QuerySubagentOptions> = { ...waitShapes, returnName: givenName }
