import type { Json, World } from 'entia'
import { AllowanceAwaited, AllowanceCall, Busy, LastTurn, OnAllowance, SubtaskAccount } from 'entia/components'
import { ModelCall, SubtaskCount } from 'entia/components'
import { allowance, charging, reasoning, subtasks } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { isStepHeld } from '../../../systems/kit.ts'
import { listener, settleWith, tickAt, told, worldOf } from '../one-tick.ts'

const subtaskId = 'world/1:sub:sum:1'
const spent = { calls: 2, input: 100, output: 7, costNanoUsd: 500 }

/** The agent of a world that has a subtask of which something is known. */
function accountable(world: World) {
  const agent = listener(world)
  world.spawn(SubtaskAccount({ agent, model: 'scripted/x', spent: { calls: 1, input: 40 }, subtaskId }))
  return agent
}

function outcomeOf(effect: number): { kind: string; effect: number; attempt: number; outcome: Json } {
  const value = { digest: 'Fine.', durationMs: 1, spent, stepsUsed: 2, subtaskId, truncated: true }
  return { kind: 'outcome', effect, attempt: 1, outcome: { ok: true, value } }
}

describe('what a subtask has spent', () => {
  it('counts though its effect is gone when its outcome comes, and once', () => {
    const world = worldOf(charging, subtasks)
    const agent = accountable(world)
    tickAt(world, 1, outcomeOf(99), outcomeOf(99))
    const counted = { ended: 1, truncated: 1, inputTokens: 100, outputTokens: 7, costNanoUsd: 500 }
    expect(world.get(agent, SubtaskCount)).toMatchObject(counted)
    expect(world.query(SubtaskAccount)).toEqual([])
    tickAt(world, 2, outcomeOf(99), { kind: 'subtask-spent', spent, subtaskId })
    expect(world.get(agent, SubtaskCount)).toMatchObject(counted)
  })

  it('never goes back: a report of less adds nothing', () => {
    const world = worldOf(charging, subtasks)
    accountable(world)
    tickAt(world, 1, { kind: 'subtask-spent', spent: { calls: 0 }, subtaskId })
    const [account = 0] = world.query(SubtaskAccount)
    expect(world.read(account, SubtaskAccount).spent).toEqual({ calls: 1, input: 40 })
  })
})

describe('an agent on an allowance', () => {
  const systems = [allowance(256), reasoning(256)]

  it('asks before its step, and takes it when it may', () => {
    const world = worldOf(...systems)
    const agent = listener(world, OnAllowance)
    expect(told(tickAt(world, 1))).toEqual([])
    const asked = world.query(AllowanceCall)
    expect(asked).toHaveLength(1)
    expect([world.has(agent, AllowanceAwaited), isStepHeld(world, agent)]).toEqual([true, true])
    tickAt(world, 2)
    expect(world.query(AllowanceCall)).toEqual(asked)
    settleWith(world, asked[0] ?? 0, { ok: true, value: null })
    expect(told(tickAt(world, 3))).toEqual(['turn-started', 'model-called'])
    expect(isStepHeld(world, agent)).toBe(false)
  })

  it.each([
    [{ ok: true as const, value: { kind: 'budget-spent', message: 'All is spent.' } }, 'budget-spent'],
    [{ ok: false as const, failure: { kind: 'internal' as const, message: 'Nobody answers.' } }, 'failed'],
  ])('that is given none ends its turn without a call', (outcome, stop) => {
    const world = worldOf(...systems)
    const agent = listener(world, OnAllowance)
    tickAt(world, 1)
    settleWith(world, world.query(AllowanceCall)[0] ?? 0, outcome)
    tickAt(world, 2)
    expect(world.get(agent, LastTurn)).toMatchObject({ stop, steps: 0 })
    expect(world.query(ModelCall)).toEqual([])
    expect([world.has(agent, Busy), isStepHeld(world, agent)]).toEqual([false, false])
  })
})
