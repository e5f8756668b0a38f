import { Settling } from '../../components/holder.ts'
import type { OutcomeData } from '../../components/outcome.ts'
import { usageSince } from '../subagents/grants.ts'
import type { SettlingOutcome } from '../subagents/holder-outcome.ts'
import type { Json } from '../world/json.ts'
import { ChildRun } from './child-run.ts'
import type { EffectContext, EffectKind } from './effect-kind.ts'
import type { Sessions } from './sessions.ts'
import { untilAborted } from './until-aborted.ts'
import { treeOf } from './world-tree.ts'

/** Drives the World of a session that has ended on, until none of its turns is on its way to a holder any more. */
export function settlingEffect(sessions: Sessions): EffectKind {
  return {
    isWaiting: true,
    prepare(world, effect) {
      const { sessionId } = sessions.record(world.read(effect, Settling).session)
      return (context) => settle(sessions, sessionId, context)
    },
  }
}

async function settle(sessions: Sessions, sessionId: string, context: EffectContext): Promise<OutcomeData> {
  const release = await context.wait(claimWorld(sessions, sessionId))
  try {
    const isWanted = !context.signal.aborted
    const maker = isWanted ? await sessions.worlds.goOn(sessionId, sessions.world.core.tokens.values()) : undefined
    if (maker === undefined) return done({ usage: { calls: 0, sessions: 0 } })
    return await driven(sessions, new ChildRun(maker, undefined), context)
  } finally {
    release()
  }
}

async function driven(sessions: Sessions, run: ChildRun, context: EffectContext): Promise<OutcomeData> {
  const before = run.usage
  const forget = sessions.ask(run)
  try {
    await run.start()
    // A question that nobody waits for any more is not gone on with.
    if (run.isAtWork && !context.signal.aborted) await context.wait(run.abandon())
    await context.wait(untilAborted(run.quiet(), context.signal))
    const usage = usageSince(before, run.usage)
    return done(run.isArchiving ? { isArchiving: true, usage } : { usage })
  } finally {
    await context.wait(run.stop())
    sessions.worlds.keep(run.world.name, run.world)
    forget()
  }
}

/** Has a session's World to itself: others of the same tree may know it as well. */
export async function claimWorld(sessions: Sessions, sessionId: string): Promise<() => void> {
  const releaseHere = await sessions.claim(sessionId)
  const release = await treeOf(sessions.world).claim(sessionId)
  return () => {
    release()
    releaseHere()
  }
}

function done(outcome: SettlingOutcome): OutcomeData {
  return { ok: true, value: outcome as Json }
}
