import type { Store } from '../stores/port.ts'
import type { Component } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import { refuseUnknownOptions } from '../world/known-options.ts'
import type { System, World } from '../world/world.ts'
import { Host } from './host.ts'
import { type HostOptions, hostOptionNames } from './host-options.ts'

export interface RunnerOptions extends HostOptions {
  /** A Host that several Runners share; instead of the options of one. */
  readonly host?: Host
  /** Where the world is kept. Absent: it lives as long as the process. */
  readonly store?: Store
  /** Keep all ticks in the store, so that the run can be replayed. @default false */
  readonly record?: boolean
  /** Most inputs that one tick takes. @default 256 */
  readonly maxInputsPerTick?: number
}

export interface OpenRunnerOptions extends RunnerOptions {
  readonly store: Store
  /** Of the world in the store. */
  readonly name: string
  readonly systems: readonly System[]
  readonly components: Iterable<Component> | Readonly<Record<string, unknown>>
  /** Makes the world if the store has none of that name. Absent: that is an error. */
  readonly create?: () => World
}

const ownOptionNames = ['host', 'store', 'record', 'maxInputsPerTick', 'name', 'systems', 'components', 'create']

/** @default of `maxInputsPerTick` */
export const defaultMaxInputsPerTick = 256

/** The Host that a Runner's options name or describe. @throws `invalid-argument` for unknown options */
export function hostOf(options: RunnerOptions): Host {
  refuseUnknownOptions('Runner', options, [...ownOptionNames, ...hostOptionNames])
  const given = Object.entries(options).filter(([key]) => !ownOptionNames.includes(key))
  const names = given.map(([key]) => key)
  const { host } = options
  if (host === undefined) return new Host(Object.fromEntries(given))
  if (names.length === 0) return host
  throw new EntiaError('invalid-argument', `Runner: ${names.join(', ')} beside 'host'. Give them to the Host.`)
}
