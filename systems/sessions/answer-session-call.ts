import { Effect } from '../../components/effects/effect.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import { OwnedBy } from '../../components/effects/owned-by.ts'
import { Pending } from '../../components/effects/pending.ts'
import { Answering, AwaitingReply, AwaitingSession } from '../../components/sessions/session-call.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { textOutcome } from '../agent/text-outcome.ts'
import { collectResults } from '../agent/tool-results.ts'
import { type PartialAnswer, resultAnswer } from './result-answer.ts'

/**
 * Answers a call that waits for a session which has ended.
 *
 * @param text the session's result, for a call that is answered with it
 */
export function answerSessionCall(world: World, call: Entity, text = ''): void {
  const { read, session } = world.read(call, AwaitingSession)
  if (read !== undefined) return giveAnswer(world, call, resultAnswer(world, session, read))
  const { category, error, status } = world.read(session, SubagentSession)
  if (status === 'succeeded') settleCall(world, call, text)
  else settleCall(world, call, `Error: Subagent '${category}' failed: ${error}`, true)
}

/** Answers a call, at once or as soon as what is wanting has come. */
export function giveAnswer(world: World, call: Entity, { answer, wants }: PartialAnswer): void {
  if (wants === undefined) return settleCall(world, call, JSON.stringify(answer))
  world.remove(call, AwaitingSession)
  world.add(call, Answering({ answer: answer, wants }))
  const attempt = (world.get(call, Effect)?.attempt ?? 0) + 1
  const kind = 'queuePositionOf' in wants ? 'queue-position' : 'record'
  world.remove(call, Outcome)
  world.set(call, Effect, { attempt, kind, restart: 'pure' })
  world.add(call, Pending)
}

/** Gives a call its result, and takes the results into the conversation that stand in line. */
export function settleCall(world: World, call: Entity, text: string, isError = false): void {
  for (const token of [Answering, AwaitingReply, AwaitingSession, Outcome, Pending]) world.remove(call, token)
  world.add(call, textOutcome({ text, isError }))
  collectResults(world, world.read(call, OwnedBy).agent)
}
