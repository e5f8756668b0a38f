import { MadeFrom } from '../../components/blueprint.ts'
import type { DelegationLimitsData } from '../../components/delegation-limits.ts'
import { defaultDelegation, DelegationLimits } from '../../components/delegation-limits.ts'
import type { OutcomeData } from '../../components/outcome.ts'
import { Running } from '../../components/running.ts'
import type { SubagentSessionData } from '../../components/subagent-session.ts'
import type { SessionOutcome } from '../subagents/session-outcome.ts'
import { thrownMessage } from '../tools/thrown-message.ts'
import type { Entity } from '../world/component.ts'
import type { Json } from '../world/json.ts'
import { ChildRun, type MakeChildRunner, type SessionEndData } from './child-run.ts'
import { beginningOf } from './child-worlds.ts'
import type { EffectContext, EffectKind } from './effect-kind.ts'
import { keepPrompt, keepResult, wholePrompt } from './session-records.ts'
import type { Sessions } from './sessions.ts'
import { untilAborted } from './until-aborted.ts'

/** The error of a session that was running when its world was saved, and whose own World is nowhere. */
const lostError = 'restored_without_live_task_handle'

/**
 * Sessions: each waits for a slot, has its World made and written down, is admitted, and runs until its World has ended.
 * One that was running when the last process ended goes on from its own journal.
 */
export function sessionEffect(sessions: Sessions): EffectKind {
  return {
    isWaiting: true,
    prepare(world, effect) {
      const record = sessions.record(effect)
      const isRunning = world.has(effect, Running)
      const slot = sessions.slot(record.sessionId)
      // The place in line is that of the launch, whatever comes first.
      const hasSlot = slot.enter(isRunning ? 'return' : 'first')
      return (context) => runSession(sessions, effect, hasSlot, context)
    },
  }
}

async function runSession(
  sessions: Sessions,
  session: Entity,
  hasSlot: Promise<boolean>,
  context: EffectContext,
): Promise<OutcomeData> {
  const { sessionId } = sessions.record(session)
  const { signal } = context
  // Not before its end is written down: by then whoever has waited for it can ask for the slot, ahead of those in the queue.
  context.whenGone(() => sessions.leavePool(sessionId))
  let release: (() => void) | undefined
  try {
    if (!(await context.wait(hasSlot)) || signal.aborted) return calledOff()
    release = await context.wait(sessions.claim(sessionId))
    const run = await made(sessions, session, context)
    if (typeof run === 'string') return failed(run)
    return (await begun(sessions, session, run, context))
      ? await followed(sessions, session, run, context)
      : calledOff()
  } finally {
    sessions.rest(sessionId)
    release?.()
  }
}

/** The run of a session, new or from where it was left; or why there is none. */
async function made(sessions: Sessions, session: Entity, context: EffectContext): Promise<ChildRun | string> {
  const record = sessions.record(session)
  const { sessionId } = record
  const wasRunning = sessions.world.has(session, Running)
  const maker = wasRunning ? await lastRun(sessions, sessionId, context) : await newRun(sessions, session, context)
  return typeof maker === 'function' ? new ChildRun(maker, sessions.slot(sessionId)) : (maker ?? lostError)
}

/** Has a session admitted, if it is new, and driven. False if it was called off before that. */
async function begun(sessions: Sessions, session: Entity, run: ChildRun, context: EffectContext): Promise<boolean> {
  const { signal } = context
  try {
    if (!sessions.world.has(session, Running) && !signal.aborted) {
      await run.prepare()
      await context.admit()
    }
    if (!signal.aborted) {
      sessions.enliven(session, run)
      // One that was running may have been stopped before it was told.
      await run.start({ limits: grantedTo(sessions, session) })
      return true
    }
  } catch (error) {
    await run.stop()
    throw error
  }
  await run.stop()
  return false
}

/** Waits for the end of a session that is driven, or stops it when it is called off. */
async function followed(
  sessions: Sessions,
  session: Entity,
  run: ChildRun,
  context: EffectContext,
): Promise<OutcomeData> {
  const record = sessions.record(session)
  const { signal } = context
  let closed: Promise<void> | undefined
  const close = (): void => {
    closed ??= context.isStopping ? run.stop() : cancelled(sessions, session, run)
  }
  signal.addEventListener('abort', close, { once: true })
  if (signal.aborted) close()
  const end = await context.wait(untilAborted(run.ended(), signal))
  if (end === undefined || signal.aborted) {
    await closed
    return calledOff()
  }
  signal.removeEventListener('abort', close)
  const { isArchiving, usage } = run
  // Its last tick keeps the clock itself for as long as it takes.
  await context.wait(run.stop())
  sessions.worlds.keep(record.sessionId, run.world)
  const outcome = await outcomeOf(sessions, record, end, usage)
  // Called off since it has ended: nothing takes its outcome, and what it has spent counts all the same.
  if (signal.aborted && !context.isStopping) sessions.spent(session, usage)
  return { ok: true, value: (isArchiving ? { ...outcome, isArchiving } : outcome) as Json }
}

async function outcomeOf(
  sessions: Sessions,
  record: SubagentSessionData,
  end: SessionEndData,
  usage: SessionOutcome['usage'],
): Promise<SessionOutcome> {
  const { sessionId, mode } = record
  const { maxKeptBytes, records } = sessions
  const kept = { world: sessions.world.name, sessionId, isBackground: mode === 'background', maxKeptBytes }
  const outcome = end.ok ? await keepResult(records, kept, end.text, usage) : { ...end, usage }
  return { ...outcome, ...(await keepPrompt(records, record, !outcome.ok, maxKeptBytes)) }
}

/** The session is over for its parent already: its World stops, and what it has spent is told. */
async function cancelled(sessions: Sessions, session: Entity, run: ChildRun): Promise<void> {
  await run.cancel('The session was ended by its parent.')
  sessions.worlds.keep(run.world.name, run.world)
  sessions.spent(session, run.usage)
}

async function newRun(
  sessions: Sessions,
  session: Entity,
  context: EffectContext,
): Promise<MakeChildRunner | string | undefined> {
  const { world, host } = sessions
  const record = sessions.record(session)
  const blueprint = world.get(session, MadeFrom)?.blueprint
  if (blueprint === undefined) return undefined
  const { resumedFrom } = record
  // One that was stopped just now is still about to let go of its World.
  const release = resumedFrom === undefined ? undefined : await context.wait(sessions.claim(resumedFrom))
  try {
    return await sessions.worlds.begin({
      session: { ...record, prompt: await wholePrompt(sessions.records, record) },
      above: sessions.above(record.parent),
      ...beginningOf(world, blueprint),
      facts: host.facts(sessions.isKept),
      components: world.core.tokens.values(),
    })
  } finally {
    release?.()
  }
}

async function lastRun(
  sessions: Sessions,
  sessionId: string,
  { tell }: EffectContext,
): Promise<MakeChildRunner | undefined> {
  try {
    return await sessions.worlds.goOn(sessionId, sessions.world.core.tokens.values())
  } catch (error) {
    // One that cannot be read is as good as none; the store says why in its own words.
    tell({ type: 'session-lost', world: sessions.world.name, sessionId, message: thrownMessage(error) })
    return undefined
  }
}

/** What its World is told that the session may spend. */
function grantedTo(sessions: Sessions, session: Entity): DelegationLimitsData {
  const { grant = {}, parent } = sessions.record(session)
  const { depth = defaultDelegation.depth } = sessions.world.get(parent, DelegationLimits) ?? {}
  return { ...grant, depth: depth - 1 }
}

function failed(message: string): OutcomeData {
  return { ok: false, failure: { kind: message === lostError ? 'interrupted' : 'internal', message } }
}

/** Nobody hears of it: the effect is settled without it. */
function calledOff(): OutcomeData {
  return { ok: false, failure: { kind: 'cancelled', message: 'The session was called off.' } }
}
