import { standardEventTypes } from '../../protocol/event.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { inspect } from '../../world/inspect.ts'
import { shortly } from '../../world/known-options.ts'
import { didYouMean } from '../../world/near-names.ts'
import type { World } from '../../world/world.ts'
import { runnerEventTypes } from './events.ts'

/** Refuses what is no listener, and one for events that nothing emits: most often a misspelt name. @throws `invalid-argument` */
export function checkListening({ systems }: World, type: string, listener: unknown): void {
  const known = new Set(['*', ...standardEventTypes, ...runnerEventTypes])
  for (const { events = [] } of systems) for (const own of events) known.add(own)
  if (known.has(type)) return refuseNoFunction(type, listener)
  const hint = typeof type === 'string' ? didYouMean(type, known) : ''
  const advice = `An event of your own is declared by the system that emits it: { name, events: [${inspect(type)}], run }.`
  throw new EntiaError('invalid-argument', `runner.on: there is no event ${inspect(type)}.${hint} ${advice}`, { type })
}

function refuseNoFunction(type: string, listener: unknown): void {
  if (typeof listener === 'function') return
  const what = `runner.on: the listener of '${type}' must be a function, got ${shortly(listener)}`
  throw new EntiaError('invalid-argument', `${what}. Write runner.on('${type}', (event) => { … }).`)
}

/** Why no system of a world takes inputs of a kind that is not a standard one. */
export function undeclaredInput({ systems }: World, kind: string, standard: readonly string[]): string | undefined {
  const own = systems.flatMap(({ inputs = [] }): readonly string[] => inputs)
  if (own.includes(kind)) return undefined
  const hint = didYouMean(kind, [...standard, ...own])
  const advice = `An input of your own is declared by the system that takes it: { name, inputs: [${inspect(kind)}], run }.`
  return `No system takes inputs of kind '${kind}'.${hint} ${advice}`
}
