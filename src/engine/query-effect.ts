import { SessionQuery, type SessionQueryData } from '../../components/session-call.ts'
import type { OutcomeData } from '../../components/outcome.ts'
import { parseEnvelope } from '../subagents/envelope.ts'
import { usageSince } from '../subagents/grants.ts'
import type { QueryOutcome } from '../subagents/session-outcome.ts'
import { knownHolders } from '../subagents/record-holder.ts'
import { cutText } from '../tools/cut-text.ts'
import type { Json } from '../world/json.ts'
import { ChildRun } from './child-run.ts'
import type { EffectContext, EffectKind } from './effect-kind.ts'
import { maxAnswerChars } from './session-records.ts'
import type { Sessions } from './sessions.ts'
import { claimWorld } from './settling-effect.ts'
import { untilAborted } from './until-aborted.ts'

/** Further questions to sessions that have succeeded: each a turn of the session's World, which needs no slot for it. */
export function queryEffect(sessions: Sessions): EffectKind {
  return {
    isWaiting: true,
    prepare(world, effect) {
      const question = world.read(effect, SessionQuery)
      const { sessionId } = sessions.record(question.session)
      return (context) => ask(sessions, { ...question, sessionId }, context)
    },
  }
}

type Question = SessionQueryData & { readonly sessionId: string }

async function ask(sessions: Sessions, question: Question, context: EffectContext): Promise<OutcomeData> {
  const { sessionId } = question
  const release = await context.wait(claimWorld(sessions, sessionId))
  try {
    const maker = await sessions.worlds.goOn(sessionId, sessions.world.core.tokens.values())
    if (maker !== undefined) return await answered(sessions, new ChildRun(maker, undefined), question, context)
    const message = `The World of session ${sessionId} was not kept: run with a store, so that it can be asked later.`
    return { ok: false, failure: { kind: 'interrupted', message } }
  } finally {
    release()
  }
}

/** Whoever asks is told of the turns that were archived there, and of no other. */
function holdersOf({ agent, world }: ChildRun): Pick<Extract<QueryOutcome, { ok: true }>, 'holders'> {
  const holders = knownHolders(world, agent).filter(({ isTold }) => isTold !== true)
  return holders.length === 0 ? {} : { holders }
}

async function answered(
  sessions: Sessions,
  run: ChildRun,
  { agent, grant, id, prompt, session, sessionId }: Question,
  context: EffectContext,
): Promise<OutcomeData> {
  const before = run.usage
  const { signal } = context
  const forget = sessions.ask(run)
  try {
    await run.start(grant && { limits: grant, question: id })
    // A commit that fails is tried again after a while: the clock may go on.
    if (!signal.aborted) await context.wait(run.ask(prompt, id))
    const end = await context.wait(untilAborted(run.ended(), signal))
    // A question that nobody waits for any more is not gone on with at the next one.
    if (end === undefined && !context.isStopping) await context.wait(run.abandon())
    const usage = run.usedOn(id) ?? usageSince(before, run.usage)
    if (end === undefined && !context.isStopping && usage.calls > 0) sessions.spent(session, usage, agent)
    if (end === undefined) return { ok: false, failure: { kind: 'cancelled', message: 'The query was called off.' } }
    const more = run.isArchiving ? { isArchiving: true as const, usage } : { usage }
    const outcome: QueryOutcome = end.ok
      ? { ok: true, ...holdersOf(run), text: cutText(parseEnvelope(end.text).result, maxAnswerChars), ...more }
      : { ok: false, error: end.error, ...more }
    return { ok: true, value: outcome as Json }
  } finally {
    await context.wait(run.stop())
    sessions.worlds.keep(sessionId, run.world)
    forget()
  }
}
