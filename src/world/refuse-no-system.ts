import type { Component } from './component.ts'
import { EntiaError } from '../base/entia-error.ts'
import { shortly } from '../base/known-options.ts'
import { isOneLine } from '../base/option-shapes.ts'

/** Valid systems: one list often serves many worlds. */
const known = new WeakSet<object>()

/** @throws `invalid-argument` for what is no system */
export function refuseNoSystem(system: unknown, index: number): void {
  if (typeof system === 'object' && system !== null && known.has(system)) return
  const { name, priority, run } = (system ?? {}) as Readonly<Record<string, unknown>>
  if (typeof name === 'string' && isOneLine(name) && Number.isFinite(priority) && typeof run === 'function') {
    refuseNoWakes(name, (system as Readonly<Record<string, unknown>>)['wakes'])
    refuseNoNames(name, system as Readonly<Record<string, unknown>>)
    return void known.add(system as object)
  }
  const isLong = typeof name === 'string' && !isOneLine(name)
  const given = isLong ? `one named ${shortly(name)}, with a line break` : shortly(system)
  const what = `new World: systems[${index}] must be a system { name, priority, run(world) }, got ${given}`
  const advice = Array.isArray(system) ? ' Spread the list: systems: [...standardSystems()].' : ''
  throw new EntiaError('invalid-argument', `${what}.${advice}`, { index })
}

function refuseNoNames(system: string, declared: Readonly<Record<string, unknown>>): void {
  for (const option of ['events', 'inputs']) {
    const names = declared[option]
    if (names === undefined || (Array.isArray(names) && names.every((each) => typeof each === 'string'))) continue
    const came = typeof names === 'string' ? `'${names}'. Write ${option}: ['${names}']` : shortly(names)
    const what = `new World: system '${system}': ${option} must be a list of names, got ${came}`
    throw new EntiaError('invalid-argument', `${what}.`, { system, option })
  }
}

function refuseNoWakes(system: string, wakes: unknown): void {
  if (wakes === undefined || (Array.isArray(wakes) && wakes.length > 0 && wakes.every(isWake))) return
  const expected = "a list of input kinds, components, and lists of components: ['message', Unread, [Llm, Unread]]"
  const advice = 'Leave wakes out for a system that runs in every tick.'
  const what = `new World: system '${system}': wakes must be ${expected}, got ${shortly(wakes)}`
  throw new EntiaError('invalid-argument', `${what}. ${advice}`, { system, option: 'wakes' })
}

function isWake(wake: unknown): boolean {
  return typeof wake === 'string' || isComponent(wake) || (Array.isArray(wake) && wake.every(isComponent))
}

function isComponent(each: unknown): boolean {
  return typeof (each as Component | null | undefined)?.index === 'number'
}
