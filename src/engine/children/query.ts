import { SessionQuery } from '../../../components/sessions/session-call.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import { parseEnvelope } from '../../rules/delegation/envelope.ts'
import { knownHolders } from '../../rules/delegation/record-holder.ts'
import type { QueryOutcome } from '../../rules/delegation/session-outcome.ts'
import { cutText } from '../../rules/text/cut-text.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../world/json.ts'
import type { EffectKind } from '../effects/effect-kind.ts'
import type { ChildRun } from './child-run.ts'
import type { Children } from './children.ts'
import { maxAnswerChars } from './session-records.ts'
import { calledOff, type ChildPolicy, supervise } from './supervisor.ts'

/** Further questions to sessions that have succeeded: each a turn of the session's World, which needs no slot for it. */
export function queryEffect(children: Children): EffectKind {
  return {
    isWaiting: true,
    prepare: (_, query) => {
      const policy = queryPolicy(children, query)
      return (context) => supervise(children, policy, context)
    },
  }
}

function queryPolicy(children: Children, query: Entity): ChildPolicy {
  const { agent, grant, id, prompt, session } = children.world.read(query, SessionQuery)
  const { sessionId } = children.record(session)
  let spent: SessionUsage | undefined
  return {
    worldId: sessionId,
    // A question that is called off is not gone on with at the next one.
    startsAlways: true,
    isKept: true,
    async open() {
      const made = await children.worlds.goOn(sessionId)
      if (made !== undefined) return made
      const message = `The World of session ${sessionId} was not kept: run with a store, so that it can be asked later.`
      return { ok: false, failure: { kind: 'interrupted', message } }
    },
    granted: () => grant && { limits: grant, question: id },
    // A commit that fails is tried again after a while: the clock may go on.
    started: async (run, { signal, wait }) => (signal.aborted ? undefined : wait(run.ask(prompt, id))),
    ended: (run) => run.ended(),
    // Of a World whose Runner has failed, what was committed counts.
    cutShort: (run) => run.abandon().catch(() => undefined),
    read(run, end) {
      const usage = (spent = run.usedOn(id) ?? run.usedInRun)
      if (end === undefined) return calledOff
      const more = run.isArchiving ? { isArchiving: true as const, usage } : { usage }
      const outcome: QueryOutcome = end.ok
        ? { ok: true, ...newHolders(run), text: cutText(parseEnvelope(end.text).result, maxAnswerChars), ...more }
        : { ok: false, error: end.error, ...more }
      return () => ({ ok: true, value: outcome as Json })
    },
    calledOff() {
      if (spent !== undefined && spent.calls > 0) children.spent(session, spent, agent)
    },
  }
}

/** The turns that were archived in the session's World and that the asker does not know yet. */
function newHolders({ agent, world }: ChildRun): Pick<Extract<QueryOutcome, { ok: true }>, 'holders'> {
  const holders = knownHolders(world, agent).filter(({ isTold }) => isTold !== true)
  return holders.length === 0 ? {} : { holders }
}
