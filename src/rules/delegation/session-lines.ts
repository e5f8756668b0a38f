import { collapsed } from '../../base/one-line.ts'
import type { SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import { callText } from '../projection/deferred-tools.ts'
import { cutText } from '../../base/cut-text.ts'

type Session = Pick<SubagentSessionData, 'error' | 'sessionId' | 'status' | 'summary'>

const maxErrorChars = 200

/** The message that notifies an agent of ended sessions. */
export function updatesText(lines: readonly string[]): string {
  return ['Background subagent updates:', ...lines].join('\n')
}

/** A tool that reads the result of a session. */
export interface ResultTool {
  readonly name: 'subagent_result' | 'collect_subagent'
  /** The agent's model is not shown it. */
  readonly deferred?: true | undefined
}

/** What an agent reads of an ended session. @param tool the one that it can read the result with; absent: it has none */
export function endedLine({ sessionId, status, error, summary }: Session, tool: ResultTool | undefined): string {
  const named = tool?.name === 'subagent_result' ? { session_id: sessionId } : { id: sessionId }
  switch (status) {
    case 'cancelled':
      return `- ${sessionId} cancelled.`
    case 'succeeded': {
      if (tool === undefined) return `- ${sessionId} succeeded.`
      const hasSummary = tool.name === 'subagent_result' && summary !== undefined
      const short = hasSummary
        ? ` or ${callText(tool, { ...named, read_method: 'summary' })} for the cached summary`
        : ''
      return `- ${sessionId} succeeded. Call ${callText(tool, named)} for the full result${short}.`
    }
    default: {
      const failed = `- ${sessionId} failed: ${errorText(error)}.`
      return tool === undefined ? failed : `${failed} Call ${callText(tool, named)} for details.`
    }
  }
}

/** What an agent whose wait timed out reads of an active session. */
export function stillLine({ sessionId, status }: Session): string {
  return `- ${sessionId} is still ${status}.`
}

function errorText(error = ''): string {
  const text = collapsed(error)
  if (text === '') return 'Unknown error'
  return cutText(text, maxErrorChars, '...')
}

/** A length of time for models and users: `30s`, `0.05s`. */
export function seconds(durationMs: number): string {
  return `${durationMs / 1_000}s`
}
