import { Settling } from '../../../components/context/holder.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import type { SettlingOutcome } from '../../rules/delegation/session-outcome.ts'
import type { Json } from '../../world/json.ts'
import type { EffectKind } from '../effects/effect-kind.ts'
import type { Children } from './children.ts'
import { type ChildPolicy, supervise } from './supervisor.ts'

/** Drives the World of a session that has ended on, until none of its turns is on its way to a holder any more. */
export function settlingEffect(children: Children): EffectKind {
  return {
    isWaiting: true,
    prepare(world, effect) {
      const { sessionId } = children.record(world.read(effect, Settling).session)
      return (context) => supervise(children, settlingPolicy(children, sessionId), context)
    },
  }
}

function settlingPolicy(children: Children, sessionId: string): ChildPolicy {
  return {
    worldId: sessionId,
    isKept: true,
    async open({ signal }) {
      const made = signal.aborted ? undefined : await children.worlds.goOn(sessionId)
      return made ?? done({ usage: { calls: 0, sessions: 0 } })
    },
    async started(run, { signal, wait }) {
      // A question that is not waited for any more is not gone on with.
      if (run.isAtWork && !signal.aborted) await wait(run.abandon())
    },
    ended: (run) => run.quiet(),
    read(run) {
      const usage = run.usedInRun
      const outcome = done(run.isArchiving ? { isArchiving: true, usage } : { usage })
      return () => outcome
    },
  }
}

function done(outcome: SettlingOutcome): OutcomeData {
  return { ok: true, value: outcome as Json }
}
