import { Approval } from '../../components/agent/tool-call.ts'
import { Due, Effect, Outcome, OwnedBy, Pending, Running } from '../../components/effects/effect.ts'
import type { InputOf } from '../../src/protocol/input.ts'
import type { OutcomeData } from '../../src/protocol/failure.ts'
import type { Entity } from '../../src/world/component.ts'
import { setCanonical } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'
import { Turn } from '../../components/agent/turn.ts'
import { emit, inputsOf, refusalOf } from '../kit.ts'

/**
 * Settles effects by outcome, approval answer or deadline, each exactly once. Inputs for effects that are settled,
 * removed or at a later try are dropped. Outcomes come before timers: work that ends at its deadline has ended.
 * Writes: Outcome, Pending, Running.
 */
export const settlement = {
  name: 'settlement',
  priority: -100,
  wakes: ['outcome', 'admitted', 'answer', 'due'],
  run(world: World): void {
    let hasTimers = false
    for (const input of world.inputs) {
      if (input.kind === 'outcome') takeOutcome(world, input as InputOf<'outcome'>)
      else if (input.kind === 'admitted') admit(world, input as InputOf<'admitted'>)
      else if (input.kind === 'answer') takeAnswer(world, input as InputOf<'answer'>)
      else if (input.kind === 'due') hasTimers = true
    }
    if (hasTimers) for (const input of inputsOf(world, 'due')) expire(world, input)
  },
}

/** `isOfInput`: part of an input, and canonical as that is. */
function settle(world: World, effect: Entity, outcome: OutcomeData, isOfInput = false): void {
  world.remove(effect, Pending)
  world.remove(effect, Running)
  const problem = refusalOf(() => {
    if (isOfInput) setCanonical(world, effect, Outcome, outcome)
    else world.set(effect, Outcome, outcome)
  })
  if (problem === undefined) return
  world.set(effect, Outcome, {
    ok: false,
    failure: { kind: 'internal', message: `The outcome is malformed: ${problem}` },
  })
}

function takeOutcome(world: World, { effect, attempt, outcome }: InputOf<'outcome'>): void {
  const reason = whyNot(world, effect, attempt)
  if (reason === undefined) settle(world, effect, outcome, true)
  else emit(world, 'input-dropped', { kind: 'outcome', effect, reason })
}

function admit(world: World, { effect, attempt }: InputOf<'admitted'>): void {
  const reason =
    whyNot(world, effect, attempt) ?? (isBeingCancelled(world, effect) ? 'cancelled in this tick' : undefined)
  if (reason !== undefined) return emit(world, 'input-dropped', { kind: 'admitted', effect, reason })
  world.remove(effect, Pending)
  world.add(effect, Running({ sinceMs: world.nowMs }))
}

/** An effect of a turn that is cancelled in the tick of its admission does not start. What no turn ends is not cancelled. */
function isBeingCancelled(world: World, effect: Entity): boolean {
  const owner = world.get(effect, OwnedBy)?.agent
  if (owner === undefined || !world.has(owner, Turn)) return false
  return inputsOf(world, 'cancel').some(({ agent }) => agent === owner)
}

function takeAnswer(world: World, { approval, ...answer }: InputOf<'answer'>): void {
  const effect = world.query(Approval, Pending).find((entity) => world.read(entity, Approval).id === approval)
  if (effect === undefined) emit(world, 'input-dropped', { kind: 'answer', reason: `no open approval ${approval}` })
  else {
    const { approved, reason, remember, stopTurn } = answer
    settle(world, effect, { ok: true, value: { approved, reason, remember, stopTurn } })
  }
}

function expire(world: World, { effect, attempt }: InputOf<'due'>): void {
  // The end of a wait between two tries is the retry system's.
  if (world.has(effect, Due) && world.get(effect, Effect)?.attempt === attempt) return
  const reason = whyNot(world, effect, attempt)
  if (reason !== undefined) return emit(world, 'input-dropped', { kind: 'due', effect, reason })
  const { kind, timeoutMs, deadlineMs } = world.read(effect, Effect)
  const limit = deadlineMs === undefined ? `within ${timeoutMs} ms` : `by its deadline`
  const message =
    kind === 'approval' ? 'no one answered before the deadline' : `The ${kind} effect did not end ${limit}.`
  settle(world, effect, { ok: false, failure: { kind: 'timed-out', message } })
}

function whyNot(world: World, entity: Entity, attempt: number): string | undefined {
  const effect = world.get(entity, Effect)
  if (effect === undefined) return 'gone'
  if (effect.attempt !== attempt) return `at try ${effect.attempt}, this was for try ${attempt}`
  return world.has(entity, Pending) || world.has(entity, Running) ? undefined : 'settled'
}
