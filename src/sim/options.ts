import type { EffectKind } from '../engine/effects/effect-kind.ts'
import { hostDefaults } from '../engine/effects/host-options.ts'
import type { ModelProvider } from '../models/port.ts'
import { checkPrices, type Price } from '../rules/money/price-overrides.ts'
import { refuseUnknownOptions } from '../world/known-options.ts'
import type { Store } from '../stores/port.ts'
import { SessionPool, sessionPoolDefaults } from '../engine/children/pool.ts'
import type { SkillDefinition } from '../engine/children/port.ts'
import type { Tool } from '../tools/port.ts'
import type { Component } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { World } from '../world/world.ts'
import { describeValue } from './describe-value.ts'
import { checkedRange, type Range } from './chance.ts'
import type { Fault, FaultRates } from './fault.ts'
import { type NamedFault, type NamedRates, renamed, withNewNames } from './deprecated.ts'
import type { Law } from './law.ts'
import { standardLaws } from './laws/index.ts'
import type { SimulatedUser } from './simulated-user.ts'
import { checkShapes } from './option-shapes.ts'
import type { OnMiss } from './recording/replayed-run.ts'
import type { Recording } from '../engine/recording/recording.ts'
import type { RunningServices, ServiceSet } from './service.ts'
import { defaultModelLatencyMs } from './simulated-model.ts'
import { defaultToolLatencyMs } from './simulated-tool.ts'
import type { TraceEntry } from './trace-entry.ts'

/** Bounds of a run, each with a name that its report says. */
export interface Bounds {
  /** Ticks of all worlds together. @default 20000 */
  readonly maxTicks?: number
  /** World time from beginning to end, in milliseconds. @default 31536000000, a year */
  readonly maxVirtualMs?: number
  /** Real time for which nothing may go on, in milliseconds: work that takes longer takes real time. @default 5000 */
  readonly maxStallMs?: number
  /** Crashes. @default 200 */
  readonly maxCrashes?: number
}

/** What is simulated, and what befalls it. Everything is made anew for each run. */
export interface SimulateOptions<S extends ServiceSet = ServiceSet> {
  /** Decides latencies, order, faults, crashes, and what the world's own dice and ids are made of. @default of `recording`, or 1 */
  readonly seed?: number
  /**
   * Makes a root world, a new one each time; its seed is best made of this one. Called at the start and again after each
   * crash: every process has systems of its own. The rest of the world comes from the store, if the store has it.
   */
  readonly world: (seed: number) => World
  /** Components beside the standard ones that a restored world may hold. @default those that `world` knows */
  readonly components?: Iterable<Component>
  /** Providers by name. */
  readonly models?: Readonly<Record<string, ModelProvider>>
  /** Tools, or a function that makes them from the services of the run, called again after each crash. */
  readonly tools?: readonly Tool[] | ((services: RunningServices<S>) => readonly Tool[])
  readonly skills?: readonly SkillDefinition[]
  readonly effects?: Readonly<Record<string, EffectKind>>
  readonly prices?: Readonly<Record<string, Price>>
  /** Simulated services, by name. */
  readonly services?: S
  /** Simulated users, by name. They answer approvals; without any, approvals are refused. */
  readonly users?: Readonly<Record<string, SimulatedUser>>
  /** @deprecated Use `users`. */
  readonly people?: Readonly<Record<string, SimulatedUser>>
  /** How probable accidents are, or which ones happen where. @default none */
  readonly faults?: NamedRates | readonly NamedFault[]
  /** @default standardLaws */
  readonly laws?: readonly Law[]
  /** Where the seed puts latencies of models and tools that do not say how long they take. */
  readonly latencyMs?: { readonly model?: Range; readonly tool?: Range }
  /** Most sessions at once. @default 5 */
  readonly maxSessions?: number
  /** Most effects at work at once, approvals and sessions aside. @default 1024 */
  readonly maxInFlight?: number
  /** Makes the pool that sessions take slots from, once for each process. @default of `maxSessions` */
  readonly sessionPool?: () => SessionPool
  /** Makes the store that outlives crashes. @default in memory, and none at all without `faults` */
  readonly store?: () => Store
  readonly bounds?: Bounds
  /** What uses the real clock or real dice inside the run: breaks it, or is only listed in the result. @default 'refuse' */
  readonly realUse?: 'refuse' | 'list'
  /**
   * A run that was recorded: models, tools and users answer as they did in it, and as fast; no model is called, no tool
   * run. `world` is given its seed. @default none
   */
  readonly recording?: Recording
  /** Where the recording has no answer: breaks the run, or goes on with `models` and `tools`. @default 'fail' */
  readonly onMiss?: OnMiss
  /** Is given each line of the trace as it is written, and then none is kept. */
  readonly onTrace?: (line: string, entry: TraceEntry) => void
}

export const simulateDefaults = {
  seed: 1,
  maxSessions: sessionPoolDefaults.cap,
  bounds: { maxTicks: 20_000, maxVirtualMs: 365 * 24 * 3_600_000, maxStallMs: 5_000, maxCrashes: 200 },
} as const

/** Options with nothing left out. */
export interface CheckedOptions extends Required<
  Omit<SimulateOptions, 'onTrace' | 'store' | 'components' | 'bounds' | 'latencyMs' | 'recording' | 'people' | 'faults'>
> {
  readonly components: Iterable<Component> | undefined
  readonly faults: FaultRates | readonly Fault[]
  readonly bounds: Required<Bounds>
  readonly latencyMs: { readonly model: Range; readonly tool: Range }
  readonly store: (() => Store) | undefined
  readonly recording: Recording | undefined
  readonly onTrace: SimulateOptions['onTrace']
}

/** The names of all options of a run. */
export const simulateOptionNames: readonly (keyof SimulateOptions)[] = [
  'seed',
  'world',
  'components',
  'models',
  'tools',
  'skills',
  'effects',
  'prices',
  'services',
  'users',
  'faults',
  'laws',
  'latencyMs',
  'maxSessions',
  'maxInFlight',
  'sessionPool',
  'store',
  'bounds',
  'realUse',
  'recording',
  'onMiss',
  'onTrace',
]

/** @throws `invalid-argument` */
export function checkedOptions(options: SimulateOptions): CheckedOptions {
  checkShapes('simulate()', options)
  refuseUnknownOptions('simulate()', options, [...simulateOptionNames, 'people'])
  const {
    seed = options.recording?.seed ?? simulateDefaults.seed,
    maxSessions = simulateDefaults.maxSessions,
    bounds = {},
    latencyMs = {},
  } = options
  if (typeof options.world !== 'function') {
    throw new EntiaError(
      'invalid-argument',
      `simulate(): 'world' is a function that makes a World, got ${typeof options.world}.`,
    )
  }
  if (!(Number.isSafeInteger(seed) && seed >= 0)) {
    throw new EntiaError('invalid-argument', `simulate(): seed must be an integer ≥ 0, got ${describeValue(seed)}.`)
  }
  refuseUnknownOptions('simulate({ bounds })', bounds, Object.keys(simulateDefaults.bounds))
  refuseUnknownOptions('simulate({ latencyMs })', latencyMs, ['model', 'tool'])
  for (const [name, bound] of Object.entries(bounds)) {
    if (typeof bound === 'number' && bound > 0) continue
    throw new EntiaError(
      'invalid-argument',
      `simulate(): bounds.${name} must be a number above 0, got ${describeValue(bound)}.`,
    )
  }
  checkPrices(options.prices ?? {}, 'simulate()')
  const { model = defaultModelLatencyMs, tool = defaultToolLatencyMs } = latencyMs
  return {
    seed,
    world: options.world,
    components: options.components,
    models: options.models ?? {},
    tools: options.tools ?? [],
    skills: options.skills ?? [],
    effects: options.effects ?? {},
    prices: options.prices ?? {},
    services: options.services ?? {},
    // oxlint-disable-next-line typescript/no-deprecated -- this is where it is read
    users: renamed('simulate()', ['people', 'users'], options.people, options.users) ?? {},
    faults: withNewNames(options.faults ?? {}),
    laws: options.laws ?? standardLaws,
    latencyMs: {
      model: checkedRange('simulate(): latencyMs.model', model),
      tool: checkedRange('simulate(): latencyMs.tool', tool),
    },
    maxSessions,
    maxInFlight: options.maxInFlight ?? hostDefaults.maxInFlight,
    sessionPool: options.sessionPool ?? (() => new SessionPool({ cap: maxSessions })),
    store: options.store,
    bounds: { ...simulateDefaults.bounds, ...bounds },
    realUse: options.realUse ?? 'refuse',
    recording: options.recording,
    onMiss: options.onMiss ?? 'fail',
    onTrace: options.onTrace,
  }
}
