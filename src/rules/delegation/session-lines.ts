import type { SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import { oneLine } from '../text/frames.ts'
import { cutText } from '../text/cut-text.ts'

type Session = Pick<SubagentSessionData, 'error' | 'sessionId' | 'status' | 'summary'>

const maxErrorChars = 200

/** The message that notifies an agent of ended sessions. */
export function updatesText(lines: readonly string[]): string {
  return ['Background subagent updates:', ...lines].join('\n')
}

/** What an agent reads of an ended session. */
export function endedLine({ sessionId, status, error, summary }: Session): string {
  switch (status) {
    case 'cancelled':
      return `- ${sessionId} cancelled.`
    case 'succeeded': {
      const full = `subagent_result(session_id="${sessionId}") for the full result`
      const short = ` or subagent_result(session_id="${sessionId}", read_method="summary") for the cached summary`
      return `- ${sessionId} succeeded. Call ${full}${summary === undefined ? '' : short}.`
    }
    default:
      return `- ${sessionId} failed: ${errorText(error)}. Call subagent_result(session_id="${sessionId}") for details.`
  }
}

/** What an agent whose wait timed out reads of an active session. */
export function stillLine({ sessionId, status }: Session): string {
  return `- ${sessionId} is still ${status}.`
}

function errorText(error = ''): string {
  const text = oneLine(error).replaceAll(/\s+/g, ' ').trim()
  if (text === '') return 'Unknown error'
  return cutText(text, maxErrorChars, '...')
}

/** A length of time for models and users: `30s`, `0.05s`. */
export function seconds(durationMs: number): string {
  return `${durationMs / 1_000}s`
}
