import type { StandardInput } from '../protocol/input.ts'
import type { Clock } from '../engine/loop/clock.ts'
import type { DrivenWorld } from '../engine/effects/host-seams.ts'
import type { Fault } from './fault.ts'
import type { FaultPlan } from './fault-plan.ts'

/** What decides how something reaches its world. */
export interface DeliveryParts {
  readonly plan: FaultPlan
  readonly clock: Clock
  readonly struck: (fault: Fault) => void
  readonly label: (world: string) => string
  /** Something is on its way from here on, until the function that this gives is called. */
  readonly onItsWay: () => () => void
}

/** Brings what the work of an effect has come to into its world: at once, or as a fault has it. */
export function delivered(parts: DeliveryParts, { world }: DrivenWorld, input: StandardInput, enter: () => void): void {
  const { plan, clock, label, onItsWay, struck } = parts
  if (input.kind !== 'outcome' || !plan.has('delivery')) return enter()
  const fault = plan.strike('delivery', plan.next(label(world.name), 'outcome'))
  if (fault === undefined) return enter()
  struck(fault)
  if (fault.what === 'delivery.duplicated') {
    enter()
    return enter()
  }
  const arrived = onItsWay()
  // Whatever comes in meanwhile overtakes it.
  clock.at(clock.now() + (fault.ms ?? 0), () => {
    arrived()
    enter()
  })
}
