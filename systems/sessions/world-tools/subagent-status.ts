import { z } from 'zod'
import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import { field, oneLine } from '../../../src/rules/text/frames.ts'
import { giveAnswer } from '../answer-session-call.ts'
import { findSession } from '../../../src/rules/delegation/find-session.ts'
import { sessionName } from './arguments.ts'
import { worldTool } from './world-tool.ts'
import { cutText } from '../../../src/rules/text/cut-text.ts'

const input = () => z.object({ session_id: sessionName().optional() })

/** `subagent_status`: how one session stands, or a table of those in the background. */
export const subagentStatus = worldTool('subagent_status', input, (world, { session_id: named }, { agent, call }) => {
  if (named === undefined) {
    const records = world.referrers(SubagentSession, agent).map((session) => world.read(session, SubagentSession))
    return JSON.stringify(overview(records.filter(({ mode }) => mode === 'background')))
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
})

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

/** Most sessions that the table lists, the latest: a model has to read them all. */
const maxRows = 200

/** Longest cell of the table, in characters. */
const maxCellChars = 50

function cell(text: string): string {
  return cutText(oneLine(text.trim().split(/\r?\n/, 1)[0] ?? ''), maxCellChars, '...')
}
