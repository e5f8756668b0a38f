import { Running } from '../../../components/effects/effect.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { EffectContext, EffectKind } from '../effects/effect-kind.ts'
import { untilAborted } from '../../base/until-aborted.ts'
import type { SessionEndData } from './child-run.ts'
import type { Children } from './children.ts'
import type { RemoteRun, RemoteSessions } from './remote-sessions.ts'
import { failed, keptOutcome, lostError, madeWorld, sessionGrant } from './session.ts'
import { calledOff } from './supervisor.ts'

/** Why a session is told to stop. */
const stopReason = 'The session was ended by its parent.'

/**
 * Runs a session elsewhere: its World and its place in line are written, then letters say how it fares. After a restart the
 * same is asked for again, which changes nothing where it was done.
 */
export function remoteSessionEffect(children: Children, remote: RemoteSessions): EffectKind {
  return {
    isWaiting: true,
    prepare(world, session) {
      const { sessionId } = children.record(session)
      const wasRunning = world.has(session, Running)
      const run = remote.run(sessionId)
      children.followRemote(session, run)
      return async (context) => {
        // A Runner that stops leaves the session alone: it goes on, and its letters wait.
        context.whenGone(() => {
          children.restRemote(session)
          if (!context.isStopping) remote.forget(sessionId, children.record(session).usage !== undefined)
        })
        return followed(children, remote, { session, run, wasRunning }, context)
      }
    },
  }
}

interface Followed {
  readonly session: Entity
  readonly run: RemoteRun
  readonly wasRunning: boolean
}

async function followed(
  children: Children,
  remote: RemoteSessions,
  { session, run, wasRunning }: Followed,
  context: EffectContext,
): Promise<OutcomeData> {
  const { signal, wait } = context
  const { sessionId } = children.record(session)
  const grant = (): Promise<void> =>
    surely(context, () => remote.tell(sessionId, 'grant', { grant: sessionGrant(children, session) }))
  if (!wasRunning) {
    const made = await madeWorld(children, session, context)
    if (typeof made === 'string') return failed(made)
    const order = remote.order(sessionId, children.reportsUsage(session))
    await surely(context, () => remote.launch(order, made))
    // Where its World was lost while it was in line, it ends without a slot.
    const first = Promise.race([run.slot, run.ended.then(() => 'ended' as const)])
    const isOver = (await wait(untilAborted(first, signal))) === 'ended'
    // A worker that does not hear that it has to wait lets go of the session for a while.
    const leave = (): void =>
      void surely(context, () => remote.tell(sessionId, 'wait', { wait: true })).catch(() => undefined)
    if (!isOver && !signal.aborted) await context.admit({ leave, enter: () => Promise.resolve() })
    if (!isOver && !signal.aborted) await grant()
  }
  // One that is running has its grant, unless the letter of its slot still lies there: that goes once the grant is sent.
  if (!signal.aborted) run.granted(wasRunning, grant)
  const news = await wait(untilAborted(run.ended, signal))
  if (news === undefined) {
    if (!context.isStopping) await wait(stopRemote(children, remote, session).catch(() => undefined))
    return calledOff()
  }
  const { isArchiving = false, marks } = news
  const end = news.end ?? (await endInWorld(children, sessionId, context))
  if (end === undefined) return failed(lostError)
  const usage = news.isUnsettled === true ? undefined : (news.usage ?? (await wait(children.worlds.spentIn(sessionId))))
  return keptOutcome(children, session, { end, isArchiving, marks, usage })
}

/** How a session ended whose letter does not say so; `undefined`: its World is lost, too. */
async function endInWorld(
  children: Children,
  sessionId: string,
  context: EffectContext,
): Promise<SessionEndData | undefined> {
  let end: SessionEndData | undefined
  await surely(context, async () => {
    try {
      end = await children.worlds.endIn(sessionId)
    } catch (error) {
      if (isStoreFailure(error)) throw error
      context.emit({ type: 'session-lost', world: children.world.name, sessionId, message: thrownMessage(error) })
    }
  })
  return end
}

/** Ends a session whose outcome nobody waits for. What it has spent comes in a letter. */
export async function stopRemote(children: Children, remote: RemoteSessions, session: Entity): Promise<void> {
  const { sessionId } = children.record(session)
  if (await remote.fleet.withdraw(remote.order(sessionId))) {
    return children.spent(session, { calls: 0, sessions: 0 })
  }
  await remote.tell(sessionId, 'stop', { stop: stopReason })
}

/** Waits between tries of what the fleet cannot do now. */
const firstWaitMs = 50
const longestWaitMs = 5_000

/** Does what may be repeated until it is done, or the effect ends: a database that is away comes back. */
async function surely({ signal, sleep, wait }: EffectContext, act: () => Promise<void>): Promise<void> {
  for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    try {
      // Waited for even if the effect ends meanwhile: what is done then comes behind it.
      return await wait(act())
    } catch (error) {
      if (!isStoreFailure(error)) throw error
      await sleep(waitMs)
    }
  }
}

function isStoreFailure(error: unknown): boolean {
  return error instanceof EntiaError && error.code === 'store-failed'
}
