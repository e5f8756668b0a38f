import { Ceilings } from 'entia/context'
import { Ledger } from 'entia/components'
import { looking } from './granting.ts'
import { look, program, type Program } from './program.ts'
import { type Behaviour, call, calls, stepwise, type TeamOptions } from './team.ts'

/** A call of the lead costs a cent, one of a worker ten. */
const prices = { 'lead/x': { input: 10, output: 0 }, 'worker/x': { input: 100, output: 0 } }
const usage = { input: 1_000, output: 0 }

/** So many cents, in billionths of a dollar. */
export const cents = (count: number): number => count * 10_000_000

/** Options of a program whose lead may spend so much. */
export function underCeilings(ceilings: Parameters<typeof Ceilings>[0], options: TeamOptions = {}): TeamOptions {
  return {
    subagents: { researcher: looking },
    leadOptions: { usage },
    workerOptions: { usage },
    ...options,
    parts: [Ceilings(ceilings), ...(options.parts ?? [])],
    runner: { prices, tools: [look], ...options.runner },
  }
}

/** A program whose lead may spend so much. */
export function thrifty(ceilings: Parameters<typeof Ceilings>[0], options: TeamOptions = {}): Promise<Program> {
  return program(underCeilings(ceilings, options))
}

export function ledgerOf({ world, lead }: Program) {
  return world.get(lead, Ledger)
}

/** Looks so often, and has done. */
export function looks(count: number): Behaviour {
  return stepwise(...Array.from({ length: count }, () => calls(call('look', 'look'))))
}
