import type { Failure, OutcomeData } from '../../protocol/failure.ts'
import type { SessionSlot } from './pool.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { Entity } from '../../world/component.ts'
import type { Clock } from '../loop/clock.ts'
import type { EffectContext } from '../effects/effect-kind.ts'
import { untilAborted } from '../../base/until-aborted.ts'
import { ChildRun, type Grant, type MakeChildRunner, type SessionEndData } from './child-run.ts'
import type { Children } from './children.ts'

/** What differs between kinds of children. Each run has a policy of its own, which may keep state. */
export interface ChildPolicy {
  /** The child's World: locked as long as the run lasts. */
  readonly worldId: string
  /** A session's run: what it spends counts for its parent while it runs. */
  readonly session?: Entity
  /** Given back while the child only waits. Absent: it needs none. */
  readonly slot?: SessionSlot
  /** Resolves once the child has that slot; with false if it left the queue before. */
  readonly hasSlot?: Promise<boolean>
  /** The child has not begun: its World is written down and admitted before its first tick. */
  readonly isNew?: boolean
  /** Starts even if it was cancelled before: work in its World has to be ended there. */
  readonly startsAlways?: boolean
  /** Its World is kept in memory where no store has it. */
  readonly isKept?: boolean
  /** Asked before each call of the child's model: why it may not begin. Absent: the child does not ask. */
  readonly mayCall?: (run: ChildRun) => Promise<Failure | undefined>
  /** Opens the World, new or from where it was left. An outcome: there is no World to drive. */
  open(context: EffectContext): Promise<MakeChildRunner | OutcomeData>
  /** What the child's agent may spend. Absent: its World has that already. */
  granted?(): Grant | undefined
  /** How long it may run from here on, on the clock. @default without limit */
  leftMs?(run: ChildRun): number
  started?(run: ChildRun, context: EffectContext): Promise<void>
  ended(run: ChildRun): Promise<SessionEndData | undefined>
  /** Cancels the child's work: the run was cancelled, or its time is over. Not called when the Runner stops. */
  cutShort?(run: ChildRun): Promise<void>
  /** Reads the child's result before its World stops. The returned function makes the outcome after that. */
  read(run: ChildRun, end: SessionEndData | undefined, context: EffectContext): () => OutcomeData | Promise<OutcomeData>
  /** Called last if the run was cancelled, unless the Runner stops: what the child has spent counts all the same. */
  calledOff?(run: ChildRun | undefined): void
}

/** Drives the World of a child: wait for a slot, lock, open, start, wait for the end or cut short, stop, unlock. */
export async function supervise(children: Children, policy: ChildPolicy, context: EffectContext): Promise<OutcomeData> {
  const { hasSlot, worldId } = policy
  const isForGood = endsForGood(context)
  let run: ChildRun | undefined
  let unlock: (() => void) | undefined
  try {
    if (hasSlot !== undefined && (!(await context.wait(hasSlot)) || context.signal.aborted)) return calledOff()
    unlock = await context.wait(children.lock(worldId))
    const made = await policy.open(context)
    if (typeof made !== 'function') return made
    run = new ChildRun(made, policy)
    return await driven(children, policy, run, context)
  } finally {
    if (isForGood()) policy.calledOff?.(run)
    children.rest(worldId)
    unlock?.()
  }
}

function endsForGood(context: EffectContext): () => boolean {
  const { signal } = context
  let isForGood = signal.aborted && !context.isStopping
  signal.addEventListener('abort', () => (isForGood = !context.isStopping), { once: true })
  return () => isForGood
}

async function driven(
  children: Children,
  policy: ChildPolicy,
  run: ChildRun,
  context: EffectContext,
): Promise<OutcomeData> {
  const { signal } = context
  let outcome: ReturnType<ChildPolicy['read']>
  try {
    if (policy.isNew === true && !signal.aborted) {
      await run.prepare()
      await context.admit(policy.slot)
    }
    if (signal.aborted && policy.startsAlways !== true) return calledOff()
    const leftMs = policy.leftMs?.(run) ?? Infinity
    let end: SessionEndData | undefined
    if (leftMs > 0) {
      children.track(run, policy)
      await run.start(policy.granted?.())
      await policy.started?.(run, context)
      let closed: Promise<void> | undefined
      const close = (): void => {
        closed ??= context.isStopping ? run.stop() : policy.cutShort?.(run)
      }
      // At once: its slot is free from here on, so nothing of it may begin.
      signal.addEventListener('abort', close, { once: true })
      if (signal.aborted) close()
      end = await ended(policy.ended(run), leftMs, children.host.clock, context)
      signal.removeEventListener('abort', close)
      if (end === undefined) close()
      if (closed !== undefined) await context.wait(closed)
    }
    outcome = policy.read(run, end, context)
  } finally {
    // Its last tick keeps the clock itself for as long as it takes.
    await context.wait(run.stop())
  }
  return signal.aborted ? calledOff() : outcome()
}

/** How a child has ended; `undefined`: not in time, or it was cancelled. */
async function ended(
  coming: Promise<SessionEndData | undefined>,
  leftMs: number,
  clock: Clock,
  { signal, wait }: EffectContext,
): Promise<SessionEndData | undefined> {
  if (leftMs === Infinity) return wait(untilAborted(coming, signal))
  let cancel: (() => void) | undefined
  const late = new Promise<undefined>((resolve) => {
    // A child that ends exactly at its deadline is in time: everything else of this instant goes first.
    const lastOfAll = (): void => void (cancel = clock.at(clock.now(), () => resolve(undefined)))
    cancel = clock.at(clock.now() + leftMs, lastOfAll)
  })
  try {
    return await wait(untilAborted(Promise.race([coming, late]), signal))
  } finally {
    cancel?.()
  }
}

/** The World of a child that was running when the last process ended; `undefined` if it is lost. */
export async function leftBehind(
  { world, worlds }: Children,
  sessionId: string,
  { emit }: EffectContext,
): Promise<MakeChildRunner | undefined> {
  try {
    return await worlds.goOn(sessionId)
  } catch (error) {
    // One that cannot be read is as good as none; the store says why in its own words.
    emit({ type: 'session-lost', world: world.name, sessionId, message: thrownMessage(error) })
    return undefined
  }
}

/** The outcome of a run that was cancelled. It is dropped, since the effect is settled already. */
export function calledOff(): OutcomeData {
  return { ok: false, failure: { kind: 'cancelled', message: 'The run was called off.' } }
}
