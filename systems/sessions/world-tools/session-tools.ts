import { oneLine } from '../../../src/base/one-line.ts'
import { z } from 'zod'
import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import { field } from '../../../src/rules/text/frames.ts'
import {
  giveAnswer,
  type PartialAnswer,
  type Reading,
  resultAnswer,
  timeoutAnswer,
  unknownAnswer,
} from '../session-answers.ts'
import { findSession } from '../../../src/rules/delegation/find-session.ts'
import { filledText, sessionName, someSeconds, worldTool, type WorldToolCall } from './world-tool.ts'
import { cutText } from '../../../src/base/cut-text.ts'
import { Effect, Pending } from '../../../components/effects/effect.ts'
import { AwaitingReply, AwaitingSession } from '../../../components/sessions/session-call.ts'
import { isFinal } from '../../../src/protocol/delegation.ts'
import type { Entity } from '../../../src/world/component.ts'
import type { World } from '../../../src/world/world.ts'
import { cancelSession, emitCancelled } from '../end-session.ts'
import { closeSession, queryProblem, querySession } from '../query-session.ts'

const statusInput = () => z.object({ session_id: sessionName().optional() })

/** `subagent_status`: the status of one session, or a table of those in the background. */
export const subagentStatus = worldTool(
  'subagent_status',
  statusInput,
  (world, { session_id: named }, { agent, call }) => {
    if (named === undefined) {
      return JSON.stringify(background(world, agent))
    }
    const found = findSession(world, agent, named)
    if (found.problem !== undefined) {
      return JSON.stringify({
        status: 'error',
        session_id: named,
        category: null,
        lifecycle_status: null,
        error: found.problem,
      })
    }
    const { sessionId, category, status, error = null } = world.read(found.session, SubagentSession)
    const answer = { status: 'success', session_id: sessionId, category, lifecycle_status: status, error }
    if (status !== 'queued') return JSON.stringify(answer)
    giveAnswer(world, call, { answer, wants: { queuePositionOf: sessionId } })
    return undefined
  },
)

function background(world: World, agent: Entity): object {
  const records = world.referrers(SubagentSession, agent).map((session) => world.read(session, SubagentSession))
  return overview(records.filter(({ mode }) => mode === 'background'))
}

function overview(records: readonly SubagentSessionData[]): object {
  if (records.length === 0) {
    return { status: 'success', session_count: 0, summary_table: 'No active subagent sessions.' }
  }
  const latestFirst = records.toSorted((a, b) => b.updatedAtMs - a.updatedAtMs || a.sequence - b.sequence)
  const rows = latestFirst
    .slice(0, maxRows)
    .map(
      ({ sessionId, category, status, resultExcerpt, error }) =>
        `${sessionId} | ${field(category)} | ${status} | ${cell(resultExcerpt ?? error ?? '')}`,
    )
  const leftOut = records.length - rows.length
  const rest = leftOut > 0 ? [`(${leftOut} more sessions, not listed)`] : []
  const table = ['Session ID | Category | Status | Last Message', ...rows, ...rest].join('\n')
  return { status: 'success', session_count: records.length, summary_table: table }
}

/** Most sessions in the table, the latest. */
const maxRows = 200

const maxCellChars = 50

function cell(text: string): string {
  return cutText(oneLine(text.trim().split(/\r?\n/, 1)[0] ?? ''), maxCellChars, '...')
}

const resultInput = () =>
  z
    .object({
      offset: z.number().int().nonnegative().optional(),
      read_method: z.enum(['full', 'summary']).default('full'),
      session_id: sessionName(),
      timeout: someSeconds().optional(),
    })
    .refine(({ offset, read_method: method }) => offset === undefined || method === 'full', {
      path: ['offset'],
      message: 'goes with read_method "full" only',
    })

/** `subagent_result`: reads a session's result, waiting for its end if needed. */
export const subagentResult = worldTool('subagent_result', resultInput, (world, asked, { agent, call }) => {
  const { session_id: named, read_method: method, offset, timeout: timeoutMs } = asked
  return readResult(
    world,
    { named, timeoutMs, reading: { method, ...(offset !== undefined && { offset }) } },
    { agent, call },
  )
})

interface Asked {
  /** The session, as the model names it. */
  readonly named: string
  readonly reading: Reading
  readonly timeoutMs?: number | undefined
}

/** Answers with a session's result, at once or when it has ended. */
function readResult(
  world: World,
  { named, reading, timeoutMs }: Asked,
  { agent, call }: Pick<WorldToolCall, 'agent' | 'call'>,
): string | undefined {
  const found = findSession(world, agent, named)
  if (found.problem !== undefined) return JSON.stringify(unknownAnswer(named, found.problem, reading))
  const { session } = found
  const give = (answer: PartialAnswer): undefined => giveAnswer(world, call, answer) as undefined
  if (isFinal(world.read(session, SubagentSession).status)) return give(resultAnswer(world, session, reading))
  if (timeoutMs === 0) return give(timeoutAnswer(world, session, reading, 0))
  world.set(call, AwaitingSession, { read: reading, session, ...(timeoutMs !== undefined && { timeoutMs }) })
  if (timeoutMs !== undefined) {
    world.set(call, Effect, { attempt: 1, deadlineMs: world.nowMs + timeoutMs, kind: 'timer', restart: 'pure' })
    world.add(call, Pending)
  }
  return undefined
}

const collectInput = () =>
  z.object({ id: sessionName(), offset: z.number().int().nonnegative().optional(), timeout: someSeconds().optional() })

/** `collect_subagent`: reads what a worker has found, waiting for its end if needed. */
export const collectSubagent = worldTool('collect_subagent', collectInput, (world, asked, call) => {
  const { id: named, offset, timeout: timeoutMs } = asked
  return readResult(
    world,
    { named, timeoutMs, reading: { method: 'full', ...(offset !== undefined && { offset }) } },
    call,
  )
})

/** `list_subagents`: a table of the agent's sessions in the background. */
export const listSubagents = worldTool(
  'list_subagents',
  () => z.object({}),
  (world, _, { agent }) => {
    return JSON.stringify(background(world, agent))
  },
)

const killInput = () => z.object({ id: sessionName() })

/** `kill_subagent`: ends a worker, and refuses questions to it from then on. */
export const killSubagent = worldTool('kill_subagent', killInput, (world, { id: named }, { agent }) => {
  const found = findSession(world, agent, named)
  if (found.problem !== undefined) return { problem: found.problem }
  const { sessionId } = world.read(found.session, SubagentSession)
  closeSession(world, found.session)
  return `Subagent ${sessionId} is ended.`
})

const cancelInput = () => z.object({ session_id: sessionName() })

/** `subagent_cancel`: ends a queued or running session. */
export const subagentCancel = worldTool('subagent_cancel', cancelInput, (world, { session_id: named }, { agent }) => {
  const found = findSession(world, agent, named)
  if (found.problem !== undefined) {
    return JSON.stringify({ status: 'error', session_id: named, lifecycle_status: null, error: found.problem })
  }
  const { session } = found
  const { sessionId, status } = world.read(session, SubagentSession)
  if (isFinal(status)) {
    const error = `Session already terminal: ${status}`
    return JSON.stringify({ status: 'error', session_id: sessionId, lifecycle_status: status, error })
  }
  emitCancelled(world, agent, [session], [])
  cancelSession(world, session)
  return JSON.stringify({ status: 'success', session_id: sessionId, lifecycle_status: 'cancelled' })
})

const queryInput = () => z.object({ id: sessionName(), prompt: filledText(), return_name: filledText().optional() })

/** `query_subagent`: asks a succeeded session a further question. The call stays open until the reply. */
export const querySubagent = worldTool(
  'query_subagent',
  queryInput,
  (world, { id: named, prompt, return_name: returnName }, { agent, call }) => {
    const found = findSession(world, agent, named)
    if (found.problem !== undefined) return { problem: found.problem }
    const problem = queryProblem(world, found.session)
    if (problem !== undefined) return { problem }
    world.add(call, AwaitingReply)
    querySession(world, found.session, { agent, id: world.newId('query'), prompt, call, returnName })
    return undefined
  },
)
