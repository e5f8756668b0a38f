import { Blueprint, MadeFrom, SharedHistory } from '../../../components/sessions/blueprint.ts'
import { Edited } from '../../../components/agent/conversation.ts'
import { defaultDelegation, isFinal } from '../../protocol/delegation.ts'
import { DelegationLimits } from '../../../components/sessions/delegation-limits.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import { Running } from '../../../components/effects/effect.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import type { SessionOutcome } from '../../rules/delegation/session-outcome.ts'
import { usageOf } from '../../rules/delegation/session-usage.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../world/json.ts'
import type { EffectContext, EffectKind } from '../effects/effect-kind.ts'
import { agentOf, type MakeChildRunner, type SessionEndData } from './child-run.ts'
import type { Children } from './children.ts'
import { keepPrompt, keepResult, wholePrompt } from './session-records.ts'
import { calledOff, type ChildPolicy, leftBehind, supervise } from './supervisor.ts'

/** The error of a session that was running when its world was saved, and whose own World is nowhere. */
const lostError = 'restored_without_live_task_handle'

/**
 * Sessions: each waits for a slot, has its World made and written down, is admitted, and runs until its World has ended.
 * One that was running when the last process ended goes on from its own journal.
 */
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
        context.whenGone(() => children.leavePool(sessionId))
        return supervise(children, policy, context)
      }
    },
  }
}

function sessionPolicy(children: Children, session: Entity, wasRunning: boolean): ChildPolicy {
  const { sessionId } = children.record(session)
  const slot = children.slot(sessionId)
  let spent: SessionUsage | undefined
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
    granted() {
      const { grant = {}, parent } = children.record(session)
      const { depth = defaultDelegation.depth } = children.world.get(parent, DelegationLimits) ?? {}
      return { limits: { ...grant, depth: depth - 1 } }
    },
    ended: (run) => run.ended(),
    cutShort: (run) => run.cancel('The session was ended by its parent.'),
    read(run, end) {
      const { isArchiving, usage } = run
      spent = usage
      return () => (end === undefined ? calledOff() : kept(children, session, { end, isArchiving, usage }))
    },
    calledOff() {
      if (spent === undefined) enterUnknownSpending(children, session)
      else children.spent(session, spent)
    },
  }
}

/** Enters what an ended session had spent, read from its World, if its parent's world does not know that yet. */
export function enterUnknownSpending(children: Children, session: Entity): void {
  const { grant, sessionId, status } = children.record(session)
  if (grant === undefined || !isFinal(status)) return
  void children.locked(sessionId, async () => {
    const world = await children.worlds.look(sessionId).catch(() => undefined)
    children.spent(session, world === undefined ? { calls: 0, sessions: 0 } : usageOf(world, agentOf(world), []))
  })
}

async function newWorld(
  children: Children,
  session: Entity,
  context: EffectContext,
): Promise<MakeChildRunner | string | undefined> {
  const { world } = children
  const record = children.record(session)
  const blueprint = world.get(session, MadeFrom)?.blueprint
  if (blueprint === undefined) return undefined
  const { resumedFrom } = record
  // One that was stopped just now is still about to let go of its World.
  const unlock = resumedFrom === undefined ? undefined : await context.wait(children.lock(resumedFrom))
  try {
    return await children.worlds.begin({
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
  readonly usage: SessionUsage
}

/** The outcome of a session, once what it has written is kept. */
async function kept(children: Children, session: Entity, { end, isArchiving, usage }: Ended): Promise<OutcomeData> {
  const { maxKeptBytes, records, world } = children
  const record = children.record(session)
  const { sessionId, mode } = record
  const place = { world: world.name, sessionId, isBackground: mode === 'background', maxKeptBytes }
  const outcome: SessionOutcome = end.ok ? await keepResult(records, place, end.text, usage) : { ...end, usage }
  const prompt = await keepPrompt(records, record, !outcome.ok, maxKeptBytes)
  return { ok: true, value: { ...outcome, ...prompt, ...(isArchiving && { isArchiving }) } as Json }
}

function failed(message: string): OutcomeData {
  return { ok: false, failure: { kind: message === lostError ? 'interrupted' : 'internal', message } }
}
