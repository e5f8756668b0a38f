import { z } from 'zod'
import { AwaitingReply } from '../../../components/sessions/session-call.ts'
import { findSession } from '../../../src/rules/delegation/find-session.ts'
import { queryProblem, querySession } from '../query-session.ts'
import { filledText, sessionName } from './arguments.ts'
import { worldTool } from './world-tool.ts'

const input = () => z.object({ id: sessionName(), prompt: filledText() })

/** `query_subagent`: puts a further question to a session that has succeeded; the call stays open until the reply is there. */
export const querySubagent = worldTool('query_subagent', input, (world, { id: named, prompt }, { agent, call }) => {
  const found = findSession(world, agent, named)
  if (found.problem !== undefined) return { problem: found.problem }
  const problem = queryProblem(world, found.session)
  if (problem !== undefined) return { problem }
  world.add(call, AwaitingReply)
  querySession(world, found.session, { agent, id: world.newId('query'), prompt, call })
  return undefined
})
