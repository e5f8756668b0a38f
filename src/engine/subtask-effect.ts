import type { OutcomeData } from '../../components/outcome.ts'
import type { Failure } from '../../components/failure.ts'
import { Running } from '../../components/running.ts'
import { Subtask, type SubtaskData, type SubtaskSpending } from '../../components/subtask.ts'
import { ToolRegistry } from '../../components/tool-registry.ts'
import { endedSubtask, hasEnded } from '../context/ended-subtask.ts'
import { failedSubtask } from '../context/subtask-result.ts'
import { nothingSpent, subtaskSpending } from '../context/subtask-spending.ts'
import { type Payer, payerOf } from '../subagents/payer.ts'
import { subtaskBlueprint } from '../subagents/subtask-blueprint.ts'
import { thrownMessage } from '../tools/thrown-message.ts'
import type { Json } from '../world/json.ts'
import { agentOf, ChildRun, type MakeChildRunner, type SessionEndData } from './child-run.ts'
import type { EffectContext, EffectKind } from './effect-kind.ts'
import type { Sessions } from './sessions.ts'
import { untilAborted } from './until-aborted.ts'

/** A subtask that is to be done, as its caller's world has it when it begins. */
interface Order {
  readonly asked: SubtaskData
  readonly blueprint: ReturnType<typeof subtaskBlueprint>
  readonly payer: Payer | undefined
  /** It was running when the last process ended. */
  readonly wasRunning: boolean
  /** Nothing of it is harmed by being done twice. */
  readonly isRepeatable: boolean
}

/**
 * Subtasks: each is a World of its own, written down, admitted, and driven until it has ended or its time is over. It needs
 * no slot. One that was running when the last process ended goes on from its own journal.
 */
export function subtaskEffect(sessions: Sessions): EffectKind {
  return {
    isWaiting: true,
    prepare(world, effect) {
      const asked = world.read(effect, Subtask)
      const wasRunning = world.has(effect, Running)
      const own = world.get(asked.agent, ToolRegistry)?.tools ?? []
      const isRepeatable = !own.some(({ name, restart }) => restart === 'once' && asked.tools.includes(name))
      const payer = payerOf(world, asked.agent)
      const order = { asked, blueprint: subtaskBlueprint(world, asked), isRepeatable, payer, wasRunning }
      if (wasRunning) sessions.subtasks.expect(asked.subtaskId)
      return (context) => runSubtask(sessions, order, context)
    },
  }
}

async function runSubtask(sessions: Sessions, order: Order, context: EffectContext): Promise<OutcomeData> {
  const { asked } = order
  const { subtaskId } = asked
  let isOver = false
  let run: ChildRun | undefined
  // Once what it has come to is in its caller's world, nobody needs its own any more.
  context.whenGone(() => {
    if (isOver && !context.isStopping) sessions.subtasks.discard(subtaskId)
  })
  const release = await context.wait(sessions.claim(subtaskId))
  try {
    const maker = await made(sessions, order, context)
    if (typeof maker !== 'function') return { ok: true, value: failedSubtask(subtaskId, maker) as Json }
    const mayCall = (): Promise<Failure | undefined> => sessions.subtasks.mayCall(asked, spentBy(run))
    run = new ChildRun(maker, undefined, mayCall)
    return await driven(sessions, order, run, context)
  } finally {
    isOver = true
    if (context.signal.aborted && !context.isStopping) sessions.subtasks.callOff(asked, spentBy(run))
    sessions.forget(subtaskId)
    release()
  }
}

/** Its World, new or from where it was left; or why there is none. */
async function made(sessions: Sessions, order: Order, context: EffectContext): Promise<MakeChildRunner | Failure> {
  const { asked, blueprint, isRepeatable, payer, wasRunning } = order
  const { agent, subtaskId, userMessage } = asked
  const components = sessions.world.core.tokens.values()
  const left = wasRunning ? await lastRun(sessions, subtaskId, context) : undefined
  if (left !== undefined) return left
  if (wasRunning && !isRepeatable) {
    const message = 'The World of the subtask is gone, and what it was at may have happened, or not, or in part.'
    return { kind: 'interrupted', message }
  }
  if (typeof blueprint === 'string') return unable(`Unknown tool '${blueprint}'`)
  const run = await sessions.worlds.begin({
    session: { kind: 'subtask', prompt: userMessage, sessionId: subtaskId },
    above: sessions.above(agent),
    blueprint,
    payer,
    history: [],
    facts: sessions.host.facts(sessions.isKept),
    components,
  })
  return typeof run === 'string' ? unable(run) : run
}

async function lastRun(
  sessions: Sessions,
  subtaskId: string,
  { tell }: EffectContext,
): Promise<MakeChildRunner | undefined> {
  try {
    return await sessions.worlds.goOn(subtaskId, sessions.world.core.tokens.values())
  } catch (error) {
    tell({
      type: 'session-lost',
      world: sessions.world.name,
      sessionId: subtaskId,
      message: thrownMessage(error),
    })
    return undefined
  }
}

/** Has it admitted, if it is new, driven to its end, and stopped. */
async function driven(
  sessions: Sessions,
  { asked, wasRunning }: Order,
  run: ChildRun,
  context: EffectContext,
): Promise<OutcomeData> {
  const { signal } = context
  const { world } = run
  const agent = agentOf(world)
  const forget = sessions.ask(run)
  let end: SessionEndData | undefined
  try {
    if (!wasRunning && !signal.aborted) {
      await run.prepare()
      await context.admit()
    }
    const leftMs = asked.timeoutMs - world.nowMs
    if (!signal.aborted && leftMs > 0 && !hasEnded(world, agent)) {
      await run.start()
      end = await within(sessions, leftMs, run.ended(), context)
      if (end === undefined && !context.isStopping) await context.wait(abandoned(run))
    }
  } finally {
    // Its last tick keeps the clock itself for as long as it takes.
    await context.wait(run.stop())
    forget()
  }
  if (signal.aborted) return { ok: false, failure: { kind: 'cancelled', message: 'The subtask was called off.' } }
  const isLate = end === undefined && !hasEnded(world, agent)
  const failure = end?.ok === false ? { kind: end.kind, message: end.error } : undefined
  return { ok: true, value: endedSubtask(world, agent, asked, { failure, isLate }) as Json }
}

/** What it was at is cut short, so that what that may have cost counts. */
async function abandoned(run: ChildRun): Promise<void> {
  // Of a World whose Runner has failed, what was committed counts.
  await run.abandon().catch(() => undefined)
}

function spentBy(run: ChildRun | undefined): SubtaskSpending {
  return run === undefined ? nothingSpent : subtaskSpending(run.world, agentOf(run.world))
}

/** What comes in time, by the clock; `undefined`: it did not, or the subtask was called off. */
async function within<T>(
  { host: { clock } }: Sessions,
  leftMs: number,
  coming: Promise<T>,
  { signal, wait }: EffectContext,
): Promise<T | undefined> {
  let cancel: (() => void) | undefined
  const late = new Promise<undefined>((resolve) => {
    // What ends at its deadline has ended: all else that is to happen at this instant goes first.
    const lastOfAll = (): void => void (cancel = clock.at(clock.now(), () => resolve(undefined)))
    cancel = clock.at(clock.now() + leftMs, lastOfAll)
  })
  try {
    return await wait(untilAborted(Promise.race([coming, late]), signal))
  } finally {
    cancel?.()
  }
}

/** The Host lacks what it is to be made of. */
function unable(message: string): Failure {
  return { kind: 'invalid-request', message }
}
