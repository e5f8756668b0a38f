import { SubtaskAccount } from '../../../components/sessions/subtask.ts'
import type { World } from '../../world/world.ts'
import { Answering } from '../../../components/sessions/session-call.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import type { Failure, OutcomeData } from '../../protocol/failure.ts'
import { maxInlineBytes } from '../../rules/delegation/session-outcome.ts'
import type { Json } from '../../base/json.ts'
import { holderEffect, holderRemovalEffect, transcriptEffect } from '../effects/archive-effects.ts'
import type { EffectKind } from '../effects/effect-kind.ts'
import { recallEffect } from '../effects/archive-effects.ts'
import type { Lineage } from './child-run.ts'
import type { Children } from './children.ts'
import { enterSpending, queryEffect, sessionEffect, settlingEffect } from './session.ts'
import { remoteSessionEffect, stopRemote } from './remote-session.ts'
import { isUnsettled } from '../../rules/delegation/unsettled-sessions.ts'
import { lostResult, summaryPathOf } from './session-records.ts'
import { subtaskEffect, tellUntoldSubtasks } from './subtask.ts'

type MakeKind = (children: Children, lineage: Lineage | undefined) => EffectKind

/** Kinds of effects that only the Runner of a world can do, since they are about other worlds. */
const kinds = {
  session: anySessionEffect, //             the run of a session
  query: queryEffect, //                    a further question to one that has succeeded
  settling: settlingEffect, //              the World of one that has ended goes on archiving
  subtask: subtaskEffect, //                the run of a subtask
  record: recordEffect, //                  a text that is read back
  'queue-position': queuePositionEffect, // a session's place in the queue
  slot: waitFor((lineage) => lineage?.slot?.enter('return')), // a slot for a session that gave its own back
  allowance: waitFor((lineage) => lineage?.mayCall?.()), // permission for a subtask's model call, from the budget's owner
  holder: holderEffect, //                  the World of a holder is made durable
  'holder-removal': holderRemovalEffect, // … or removed
  transcript: transcriptEffect, //          lines are appended to transcripts
  recall: recallEffect, //                  what an agent no longer sees of its conversation is searched
} satisfies Record<string, MakeKind>
export type ChildEffectKind = keyof typeof kinds

export function isChildEffect(kind: string): kind is ChildEffectKind {
  return Object.hasOwn(kinds, kind)
}

/** Does an effect that is about other worlds. @param lineage ties to the parent's world, if there is one */
export function childKind(kind: ChildEffectKind, children: Children, lineage: Lineage | undefined): EffectKind {
  const make: MakeKind = kinds[kind]
  return make(children, lineage)
}

/** Is there a child whose spending may not be in its parent's world? */
export function hasUntold({ core: { state } }: World): boolean {
  return [SubagentSession, SubtaskAccount].some((token) => state.entitiesWith(token).length > 0)
}

export function tellUntold(children: Children): void {
  tellUntoldSubtasks(children)
  for (const session of children.world.entitiesWith(SubagentSession)) {
    if (!isUnsettled(children.record(session))) continue
    if (children.remote === undefined) enterSpending(children, session)
    else stopRemote(children, children.remote, session).catch(() => undefined)
  }
}

/** A session runs in this process, or elsewhere. */
function anySessionEffect(children: Children): EffectKind {
  const { remote } = children
  return remote === undefined ? sessionEffect(children) : remoteSessionEffect(children, remote)
}

function recordEffect(children: Children): EffectKind {
  return {
    prepare(world, effect) {
      const { wants } = world.read(effect, Answering)
      if (!('recordPath' in wants)) return undefined
      const { offset, part, recordPath } = wants
      const key = part === 'full' ? recordPath : summaryPathOf(recordPath)
      return async () => {
        const found = await children.records.get(key, { offset, maxBytes: maxInlineBytes })
        if (found !== undefined) return done({ text: found.text, nextOffset: found.nextOffset })
        return done({ problem: lostResult(resultBytes(children, recordPath), children.maxKeptBytes) })
      }
    },
  }
}

/** Of the result that is kept under that path; 0 for none. */
function resultBytes({ world }: Children, recordPath: string): number {
  const records = world.entitiesWith(SubagentSession).map((session) => world.read(session, SubagentSession))
  return records.find((record) => record.recordPath === recordPath)?.resultBytes ?? 0
}

/** Places in the queue, asked of the pool so that a replay needs none. */
function queuePositionEffect(children: Children): EffectKind {
  return {
    isWaiting: true,
    prepare(world, effect) {
      const { wants } = world.read(effect, Answering)
      if (!('queuePositionOf' in wants)) return undefined
      const { queuePositionOf } = wants
      return async () => done((await children.queuePosition(queuePositionOf)) ?? null)
    },
  }
}

/** Waits for the parent's Runner. A failure is the value of the outcome. */
function waitFor(
  asked: (lineage: Lineage | undefined) => Promise<Failure | boolean | undefined> | undefined,
): MakeKind {
  return (_, lineage) => ({
    isWaiting: true,
    prepare: () => async (context) => {
      const answer = await context.wait(asked(lineage) ?? Promise.resolve(undefined))
      return done(typeof answer === 'object' ? answer : null)
    },
  })
}

function done(value: Json): OutcomeData {
  return { ok: true, value }
}
