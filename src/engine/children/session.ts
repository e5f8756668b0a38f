import { Blueprint, MadeFrom, SharedHistory } from '../../../components/sessions/blueprint.ts'
import { Edited } from '../../../components/agent/conversation.ts'
import { defaultDelegation } from '../../protocol/delegation.ts'
import { DelegationLimits } from '../../../components/sessions/delegation-limits.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import { Running } from '../../../components/effects/effect.ts'
import type { PolicyMarks } from '../../protocol/policy.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import type { QueryOutcome, SessionOutcome, SettlingOutcome } from '../../rules/delegation/session-outcome.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../base/json.ts'
import type { World } from '../../world/world.ts'
import type { EffectContext, EffectKind } from '../effects/effect-kind.ts'
import type { ChildRun, Grant, MakeChildRunner, SessionEndData } from './child-run.ts'
import type { Beginning } from './child-worlds.ts'
import type { Children } from './children.ts'
import { returnedValue } from './returned-value.ts'
import { keepPrompt, keepResult, maxAnswerChars, wholePrompt } from './session-records.ts'
import { calledOff, type ChildPolicy, leftBehind, supervise } from './supervisor.ts'
import { untilAborted } from '../../base/until-aborted.ts'
import { SessionQuery } from '../../../components/sessions/session-call.ts'
import { inheritedPolicy } from '../../rules/policy/inherited-policy.ts'
import { marksOf } from '../../rules/policy/marks.ts'
import { parseEnvelope } from '../../rules/delegation/envelope.ts'
import { isUnsettled } from '../../rules/delegation/unsettled-sessions.ts'
import { knownHolders } from '../../rules/delegation/record-holder.ts'
import { cutText } from '../../base/cut-text.ts'
import { Settling } from '../../../components/context/holder.ts'

/** The error of a session that was running when its parent's world was saved and whose own World is lost. */
/** Why a session failed whose World is lost. */
export const lostError = 'restored_without_live_task_handle'

/** Runs a session: slot, World, admission, then until its end. After a restart it continues from its own journal. */
export function sessionEffect(children: Children): EffectKind {
  return {
    isWaiting: true,
    prepare(world, session) {
      const { sessionId } = children.record(session)
      const wasRunning = world.has(session, Running)
      if (wasRunning) children.expect(sessionId)
      const policy = sessionPolicy(children, session, wasRunning)
      return (context) => {
        // Keeps the slot until the end is committed: then sessions that waited for it ask for the slot before the queue moves.
        context.whenGone(() => children.forget(session, sessionId))
        return supervise(children, policy, context)
      }
    },
  }
}

function sessionPolicy(children: Children, session: Entity, wasRunning: boolean): ChildPolicy {
  const { sessionId } = children.record(session)
  const slot = children.slot(sessionId)
  return {
    worldId: sessionId,
    session,
    slot,
    // Entered at once, so that the queue has the order of the launches.
    hasSlot: slot.enter(wasRunning ? 'return' : 'first'),
    isNew: !wasRunning,
    isKept: true,
    async open(context) {
      const made = wasRunning
        ? await leftBehind(children, sessionId, context)
        : await newWorld(children, session, context)
      return typeof made === 'function' ? made : failed(made ?? lostError)
    },
    granted: () => sessionGrant(children, session),
    ended: (run) => run.ended(),
    cutShort: (run) => run.cancel('The session was ended by its parent.'),
    read(run, end) {
      const { isArchiving } = run
      const marks = marksOf(run.world, run.agent)
      return async () =>
        end === undefined
          ? calledOff()
          : keptOutcome(children, session, { end, isArchiving, marks, usage: await run.spent() })
    },
    calledOff(run) {
      if (wasRunning || run !== undefined) enterSpending(children, session)
    },
  }
}

/** What a session may spend, and how deep it may delegate. */
export function sessionGrant(children: Children, session: Entity): Grant {
  const { grant = {}, parent } = children.record(session)
  const { depth = defaultDelegation.depth } = children.world.get(parent, DelegationLimits) ?? {}
  return { limits: { ...grant, depth: depth - 1 } }
}

/** Enters what a session has spent whose outcome is dropped, once its World is closed; nothing counts that without its record. */
export function enterSpending(children: Children, session: Entity): void {
  if (!children.world.exists(session)) return
  const { sessionId } = children.record(session)
  void children.locked(sessionId, async () => children.spent(session, await children.spentBy(sessionId)))
}

async function newWorld(
  children: Children,
  session: Entity,
  context: EffectContext,
): Promise<MakeChildRunner | string | undefined> {
  return withBeginning(children, session, context, (beginning) => children.worlds.begin(beginning))
}

/** The World of a session that has not begun, which is nowhere yet. A string says why there is none. */
export async function madeWorld(children: Children, session: Entity, context: EffectContext): Promise<World | string> {
  const made = await withBeginning(children, session, context, (beginning) => children.worlds.make(beginning))
  if (made === undefined) return lostError
  return made.problem ?? made.world
}

async function withBeginning<T>(
  children: Children,
  session: Entity,
  context: EffectContext,
  begin: (beginning: Beginning) => Promise<T>,
): Promise<T | undefined> {
  const { world } = children
  const record = children.record(session)
  const blueprint = world.get(session, MadeFrom)?.blueprint
  if (blueprint === undefined) return undefined
  const { resumedFrom } = record
  // A session that was stopped just now may still have its World open.
  const unlock = resumedFrom === undefined ? undefined : await context.wait(children.lock(resumedFrom))
  try {
    return await begin({
      session: { ...record, prompt: await wholePrompt(children.records, record) },
      agent: record.parent,
      blueprint: world.read(blueprint, Blueprint),
      history: world.get(blueprint, SharedHistory) ?? [],
      edited: world.get(blueprint, Edited),
    })
  } finally {
    unlock?.()
  }
}

interface Ended {
  readonly end: SessionEndData
  readonly isArchiving: boolean
  readonly marks: PolicyMarks | undefined
  /** `undefined`: not known yet. */
  readonly usage: SessionUsage | undefined
}

/** The outcome of a session, with its result where the world's records are. */
export async function keptOutcome(
  children: Children,
  session: Entity,
  { end, isArchiving, marks, usage }: Ended,
): Promise<OutcomeData> {
  const { maxKeptBytes, records, world } = children
  const record = children.record(session)
  const { sessionId, mode } = record
  const place = { world: world.name, sessionId, isBackground: mode === 'background', maxKeptBytes }
  const outcome: SessionOutcome = end.ok
    ? await keepResult(records, place, end.text, usage)
    : { ...end, ...(usage && { usage }) }
  const prompt = await keepPrompt(records, record, !outcome.ok, maxKeptBytes)
  const more = { ...(isArchiving && { isArchiving }), ...(marks && { marks }) }
  return { ok: true, value: { ...outcome, ...prompt, ...more } as Json }
}

export function failed(message: string): OutcomeData {
  return { ok: false, failure: { kind: message === lostError ? 'interrupted' : 'internal', message } }
}

/** Asks a session that has succeeded a further question: one more turn of its World, without a slot. */
export function queryEffect(children: Children): EffectKind {
  return supervised(children, (query) => queryPolicy(children, query))
}

function supervised(children: Children, policyOf: (effect: Entity) => ChildPolicy): EffectKind {
  return {
    isWaiting: true,
    prepare: (_, effect) => {
      const policy = policyOf(effect)
      return (context) => supervise(children, policy, context)
    },
  }
}

function queryPolicy(children: Children, query: Entity): ChildPolicy {
  const { agent, grant, id, prompt, returnName, session } = children.world.read(query, SessionQuery)
  const { sessionId } = children.record(session)
  let spent: SessionUsage | undefined
  return {
    worldId: sessionId,
    // The turn of a cancelled question has to be ended, or the next question would go on with it.
    startsAlways: true,
    isKept: true,
    async open(context) {
      if (!(await context.wait(hasSettled(children, session, context)))) return calledOff()
      const made = await children.worlds.goOn(sessionId)
      if (made !== undefined) return made
      const message = `The World of session ${sessionId} was not kept: run with a store, so that it can be asked later.`
      return { ok: false, failure: { kind: 'interrupted', message } }
    },
    granted: () => grant && { limits: grant, question: id, ...handedDown(children, agent) },
    // A commit that fails is retried after a while: the clock may go on.
    started: async (run, { signal, wait }) => (signal.aborted ? undefined : wait(run.ask(prompt, id))),
    ended: (run) => run.ended(),
    // If the Runner has failed, what was committed counts.
    cutShort: (run) => run.abandon().catch(() => undefined),
    read(run, end, context) {
      const usage = (spent = run.usedOn(id) ?? run.usedInRun)
      if (end === undefined) return calledOff
      const marks = marksOf(run.world, run.agent)
      const more = { ...(run.isArchiving && { isArchiving: true as const }), ...(marks && { marks }), usage }
      if (!end.ok) return () => answered({ ok: false, error: end.error, ...more })
      const text = cutText(parseEnvelope(end.text).result, maxAnswerChars)
      const outcome: QueryOutcome = { ok: true, ...newHolders(run), text, ...more }
      if (returnName === undefined) return () => answered(outcome)
      const stored = returnedValue(children, { agent, name: returnName, run, context })
      return async () => answered({ ...outcome, text: `${text}\n${await stored()}` })
    },
    calledOff() {
      if (spent !== undefined && spent.calls > 0) children.spent(session, spent, agent)
    },
  }
}

/** Resolves once it is known what an ended session has spent: until then a worker may hold its World. False: cancelled before. */
async function hasSettled(children: Children, session: Entity, { signal }: EffectContext): Promise<boolean> {
  const isSettled = (): boolean => !isUnsettled(children.record(session))
  if (children.remote !== undefined) await untilAborted(children.remote.settled(isSettled), signal)
  return children.remote === undefined || isSettled()
}

function answered(outcome: QueryOutcome): OutcomeData {
  return { ok: true, value: outcome as Json }
}

/** What an agent's policy hands down with a question. */
function handedDown({ world }: Children, agent: Entity): Pick<Grant, 'isPlanMode' | 'marks'> {
  const inherited = inheritedPolicy(world, agent)
  if (inherited === undefined) return {}
  const { isPlanMode, marks } = inherited
  return { isPlanMode, ...(marks !== undefined && { marks }) }
}

/** Turns that were archived in the session's World and that the asker does not know of yet. */
function newHolders({ agent, world }: ChildRun): Pick<Extract<QueryOutcome, { ok: true }>, 'holders'> {
  const holders = knownHolders(world, agent).filter(({ isTold }) => isTold !== true)
  return holders.length === 0 ? {} : { holders }
}

/** Drives the World of an ended session until its turns that are being archived have reached their holders. */
export function settlingEffect(children: Children): EffectKind {
  return supervised(children, (effect) => settlingPolicy(children, effect))
}

function settlingPolicy(children: Children, effect: Entity): ChildPolicy {
  const { session } = children.world.read(effect, Settling)
  const { sessionId } = children.record(session)
  return {
    worldId: sessionId,
    isKept: true,
    async open(context) {
      await context.wait(hasSettled(children, session, context))
      const made = context.signal.aborted ? undefined : await children.worlds.goOn(sessionId)
      return made ?? settled({ usage: { calls: 0, sessions: 0 } })
    },
    async started(run, { signal, wait }) {
      // The turn of a cancelled question does not go on.
      if (run.isAtWork && !signal.aborted) await wait(run.abandon())
    },
    ended: (run) => run.quiet(),
    read(run) {
      const usage = run.usedInRun
      const outcome = settled(run.isArchiving ? { isArchiving: true, usage } : { usage })
      return () => outcome
    },
  }
}

function settled(outcome: SettlingOutcome): OutcomeData {
  return { ok: true, value: outcome as Json }
}
