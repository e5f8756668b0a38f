import type { DrivenStep } from '../../engine/host-seams.ts'
import type { Component } from '../../world/component.ts'

/** A bit for each component that a law asks for, by name. */
const bits = new Map<string, number>()
/** So many bits a number has. */
const maxBits = 31

let newest: DrivenStep | undefined
let set = 0
let removed = 0

/** The bits of some components, together. To be asked for once, when a law is loaded. */
export function bitsOf(...tokens: readonly Component[]): number {
  return tokens.reduce((all, { name }) => all | bitOf(name), 0)
}

/** Of which components a tick has set a value. Worked out once a tick, for all laws: most have nothing to do with most. */
export function setBits(step: DrivenStep): number {
  if (step !== newest) look(step)
  return set
}

/** Which components a tick has taken from entities that are still there. */
export function removedBits(step: DrivenStep): number {
  if (step !== newest) look(step)
  return removed
}

function look(step: DrivenStep): void {
  newest = step
  set = 0
  removed = 0
  for (const name in step.delta.set) set |= bits.get(name) ?? 0
  for (const name in step.delta.removed) removed |= bits.get(name) ?? 0
}

function bitOf(name: string): number {
  const known = bits.get(name)
  if (known !== undefined) return known
  if (bits.size === maxBits) throw new Error(`The laws ask for more than ${maxBits} components.`)
  const bit = 1 << bits.size
  bits.set(name, bit)
  return bit
}
