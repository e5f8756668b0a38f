import { z } from 'zod'
import { Effect } from '../../../components/effects/effect.ts'
import { Pending } from '../../../components/effects/pending.ts'
import { AwaitingSession } from '../../../components/sessions/session-call.ts'
import { isFinal } from '../../../src/protocol/session-status.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { giveAnswer } from '../answer-session-call.ts'
import { findSession } from '../../../src/rules/delegation/find-session.ts'
import { type PartialAnswer, resultAnswer, timeoutAnswer, unknownAnswer } from '../result-answer.ts'
import { sessionName, someSeconds } from './arguments.ts'
import { worldTool } from './world-tool.ts'

const input = () =>
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

/** `subagent_result`: reads a session's result, and waits for its end if need be. */
export const subagentResult = worldTool('subagent_result', input, (world, asked, { agent, call }) => {
  const { session_id: named, read_method: method, offset, timeout: timeoutMs } = asked
  const reading = { method, ...(offset !== undefined && { offset }) }
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
})
