import { CostCeiling } from '../../components/money/ceilings.ts'
import { AllowanceAwaited, RatesAwaited, StepHeld, Summarizing } from '../../components/agent/agent-tags.ts'
import { WatchdogLatch } from '../../components/agent/watchdog-state.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** What keeps an agent from its next step, each by itself. One tag stands for all: queries follow that alone. */
const reasons = [AllowanceAwaited, CostCeiling, WatchdogLatch, Summarizing, RatesAwaited]

/** Keeps an agent from its next step if there is a reason to, and lets it go on if there is none any more. */
export function holdStep(world: World, agent: Entity): void {
  if (reasons.some((token) => world.has(agent, token))) world.add(agent, StepHeld)
  else world.remove(agent, StepHeld)
}
