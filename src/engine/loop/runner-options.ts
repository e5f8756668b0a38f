import type { Store } from '../../stores/port.ts'
import type { Component } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { refuseUnknownOptions, shortly } from '../../base/known-options.ts'
import {
  callback,
  count,
  filledText,
  flag,
  objectWith,
  refuseMisfit,
  refuseMisfits,
  type ShapesOf,
} from '../../base/option-shapes.ts'
import { type System, World } from '../../world/world.ts'
import { Host } from '../effects/host.ts'
import { type HostOptions, hostOptionNames } from '../effects/host-options.ts'

/** Options of `new Runner`. */
export interface RunnerOptions extends HostOptions {
  /** A Host that several Runners share, instead of its options. */
  readonly host?: Host
  /** Where the world is stored. Absent: it lives as long as the process. */
  readonly store?: Store
  /** Keep all ticks in the store, to replay the run. @default false */
  readonly record?: boolean
  /** Most inputs that one tick takes. @default 256 */
  readonly maxInputsPerTick?: number
}

export interface PostOptions {
  /** An input counts once under an id. */
  readonly id?: string
}

/** Options of `Runner.open`. */
export interface OpenRunnerOptions extends RunnerOptions {
  /** Where the world is stored. */
  readonly store: Store
  /** The name of the world in the store. */
  readonly name: string
  /** The systems that tick it: the same as when it was saved, or newer ones. */
  readonly systems: readonly System[]
  /** Every component that the saved world may have; `import * as components from 'entia/components'` for the standard ones. */
  readonly components: Iterable<Component> | Readonly<Record<string, unknown>>
  /** Creates the world if the store has none of that name. Absent: that is an error. */
  readonly create?: () => World
}

export interface StopOptions {
  /** For so many milliseconds tools of class `once` may end what they have begun. Nothing else begins meanwhile. @default 0 */
  readonly onceMs?: number
}

/** What a Runner has in flight and has done. */
export interface RunnerStats {
  readonly ticks: number
  /** Late outcomes and repeated inputs. */
  readonly dropped: number
  readonly inFlight: number
}

const ownOptionNames = ['host', 'store', 'record', 'maxInputsPerTick', 'name', 'systems', 'components', 'create']

export const defaultMaxInputsPerTick = 256

export const storeShape = objectWith(
  'a store, such as sqliteStore({ folder }) or memoryStore()',
  'open',
  'putText',
  'close',
)
const ownShapes: Partial<ShapesOf<RunnerOptions & OpenRunnerOptions>> = {
  host: { wanted: 'a Host', fits: (value) => value instanceof Host },
  store: storeShape,
  record: flag,
  maxInputsPerTick: count,
  name: filledText,
  components: {
    wanted: 'a list or a module of components',
    fits: (value) => typeof value === 'object' && value !== null,
  },
  create: callback,
}

function checkRunnerOptions(options: RunnerOptions): void {
  refuseUnknownOptions('Runner', options, [...ownOptionNames, ...hostOptionNames])
  refuseMisfits('Runner', options, ownShapes)
}

export function checkOpenOptions(options: OpenRunnerOptions): void {
  checkRunnerOptions(options)
  refuseMisfit('Runner.open', 'store', options.store, storeShape)
  refuseMisfit('Runner.open', 'name', options.name, filledText)
}

export function hostOf(options: RunnerOptions): Host {
  checkRunnerOptions(options)
  const given = Object.entries(options).filter(([key]) => !ownOptionNames.includes(key))
  const names = given.map(([key]) => key)
  const { host } = options
  if (host === undefined) return new Host(Object.fromEntries(given))
  if (names.length === 0) return host
  throw new EntiaError('invalid-argument', `Runner: ${names.join(', ')} beside 'host'. Give them to the Host.`)
}

export function refuseNoWorld(world: unknown): void {
  if (world instanceof World) return
  const what = `Runner: the first argument must be a World, got ${shortly(world)}`
  throw new EntiaError('invalid-argument', `${what}. Write new Runner(world, { models }), or run(world, { models }).`)
}
