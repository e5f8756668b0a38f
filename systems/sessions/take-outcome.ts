import { Outcome } from '../../components/effects/outcome.ts'
import { ReportedUsage } from '../../components/sessions/reported-usage.ts'
import { SessionTexts } from '../../components/sessions/session-texts.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { SessionOutcome } from '../../src/rules/delegation/session-outcome.ts'
import { seconds } from '../../src/rules/delegation/session-lines.ts'
import type { Entity } from '../../src/world/component.ts'
import { parsedAs } from '../../src/world/parsed-as.ts'
import type { World } from '../../src/world/world.ts'
import { settleSession } from './settle-session.ts'
import { endSession } from './end-session.ts'

/** Ends a session whose effect is settled: by its World's end, by its deadline, or because it could not run. */
export function takeOutcome(world: World, session: Entity): void {
  const outcome = world.read(session, Outcome)
  const { timeoutMs = 0, status } = world.read(session, SubagentSession)
  if (!outcome.ok) {
    const { kind, message } = outcome.failure
    const isLate = kind === 'timed-out' && status === 'running'
    const error = isLate ? `Subagent timeout after ${seconds(timeoutMs)}` : message
    return endSession(world, session, {
      status: isLate ? 'timed_out' : 'failed',
      fields: { error },
      ...noUse(world, session, isLate),
    })
  }
  const end = parsedAs(SessionOutcome(), outcome.value)
  if (end === undefined) {
    const error = 'The session came back with an outcome that is none.'
    return endSession(world, session, { status: 'failed', fields: { error } })
  }
  const { ok: _, isArchiving, usage, prompt, promptCut, promptRecord, ...rest } = end
  if (isArchiving === true) settleSession(world, session, true)
  const cut = prompt === undefined ? {} : { prompt, promptCut, promptRecord }
  if (!('text' in rest)) {
    return endSession(world, session, { status: 'failed', fields: { ...cut, error: rest.error }, usage })
  }
  const { text, texts, ...fields } = rest
  if (texts !== undefined) world.set(session, SessionTexts, texts)
  endSession(world, session, { status: 'succeeded', fields: { ...cut, ...fields }, text, usage })
}

/** What could not run, or not go on, has used no more than it told of; what was stopped tells later what it had used. */
function noUse(world: World, session: Entity, isLate: boolean) {
  return isLate ? {} : { usage: world.get(session, ReportedUsage)?.usage ?? { calls: 0, sessions: 0 } }
}
