import type { SessionPool } from '../engine/children/pool.ts'
import type { HostOptions } from '../engine/effects/host-options.ts'
import type { DrivenWorld } from '../engine/effects/host-seams.ts'
import type { Clock } from '../engine/loop/clock.ts'
import type { StandardInput } from '../protocol/input.ts'
import type { Tool } from '../tools/port.ts'
import type { FaultPlan } from './fault-plan.ts'
import type { CheckedOptions } from './options.ts'
import type { RunRecorder } from './run-recorder.ts'
import { simulatedModel } from './simulated-model.ts'
import { simulatedTool } from './simulated-tool.ts'
import type { SimulatedWork } from './simulated-work.ts'

export interface SimulatedHostParts {
  readonly options: CheckedOptions
  readonly clock: Clock
  readonly tools: readonly Tool[]
  readonly work: SimulatedWork
  readonly sessionPool: SessionPool
}

/** What the Host of a simulated process has: models, tools and skills make simulated calls. */
export function simulatedHost({ clock, options, sessionPool, tools, work }: SimulatedHostParts): HostOptions {
  const { effects, latencyMs, maxInFlight, maxInFlightPerProvider, models, prices, skills, users } = options
  const simulated = (tool: Tool): Tool => simulatedTool(tool, work, latencyMs.tool)
  const providers = Object.entries(models).map(
    ([name, provider]) => [name, simulatedModel(name, provider, work, latencyMs.model)] as const,
  )
  return {
    clock,
    models: Object.fromEntries(providers),
    tools: tools.map(simulated),
    skills: skills.map((skill) => ({ ...skill, ...(skill.tools && { tools: skill.tools.map(simulated) }) })),
    effects,
    prices,
    maxInFlight,
    ...(maxInFlightPerProvider !== undefined && { maxInFlightPerProvider }),
    sessionPool,
    ...(Object.keys(users).length > 0 && { approve: 'by-input' }),
  }
}

export interface DeliveryParts {
  readonly plan: FaultPlan
  readonly recorder: RunRecorder
  /** Lets an input enter after so many milliseconds: whatever arrives meanwhile overtakes it. */
  readonly later: (delayMs: number, enter: () => void) => void
}

/** Lets an input enter its world. A fault may strike an outcome: it enters twice, or late. */
export function deliver(
  { later, plan, recorder }: DeliveryParts,
  { world }: DrivenWorld,
  input: StandardInput,
  enter: () => void,
): void {
  if (input.kind !== 'outcome' || !plan.has('delivery')) return enter()
  const fault = plan.strike('delivery', plan.next(recorder.labels.named(world.name), 'outcome'))
  if (fault === undefined) return enter()
  recorder.struck(fault)
  if (fault.what !== 'delivery.duplicated') return later(fault.ms ?? 0, enter)
  enter()
  enter()
}
