import { CostCeiling } from '../../components/money/ceilings.ts'
import type { StandardEvents } from '../../src/protocol/event.ts'
import { LastTurn, Turn } from '../../components/agent/turn.ts'
import { WatchdogLatch } from '../../components/agent/watchdog-state.ts'
import { ceilingMessage } from '../../src/rules/money/ceiling-decision.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit } from './emit.ts'

type Latched = Pick<StandardEvents['turn-error'], 'kind' | 'message' | 'failure'>

/** What has stopped an agent until it is reset; `undefined` if nothing has. */
export function latchOf(world: World, agent: Entity): Latched | undefined {
  const ceiling = world.get(agent, CostCeiling)
  if (ceiling !== undefined) {
    const message = ceilingMessage(ceiling)
    return { kind: 'cost_ceiling', message, failure: { kind: 'budget-spent', message } }
  }
  const dog = world.get(agent, WatchdogLatch)
  if (dog === undefined) return undefined
  return { kind: 'watchdog', message: dog.message, failure: { kind: 'watchdog', message: dog.message } }
}

/** Refuses a message to a stopped agent and emits that. Returns whether it is stopped. */
export function refuseLatched(world: World, agent: Entity): boolean {
  const latched = latchOf(world, agent)
  if (latched === undefined) return false
  emit(world, 'turn-error', { agent, ...latched, retryable: false, refused: true })
  if (latched.kind === 'cost_ceiling' && !world.has(agent, Turn)) noteRefused(world, agent, latched)
  return true
}

/** The sender sees a turn that ended before its first step. */
function noteRefused(world: World, agent: Entity, { failure }: Latched): void {
  const atMs = world.nowMs
  const nothing = { steps: 0, toolCalls: 0, startedAtMs: atMs, endedAtMs: atMs }
  world.add(agent, LastTurn({ stop: 'budget-spent', failure, ...nothing }))
}
