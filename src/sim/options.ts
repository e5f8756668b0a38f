import type { EffectKind } from '../engine/effects/effect-kind.ts'
import { hostDefaults } from '../engine/effects/host-options.ts'
import type { ModelProvider } from '../models/port.ts'
import { checkPrices, type Price } from '../rules/money/price-overrides.ts'
import { refuseUnknownOptions } from '../base/known-options.ts'
import type { Store } from '../stores/port.ts'
import { SessionPool, sessionPoolDefaults } from '../engine/children/pool.ts'
import type { SkillDefinition } from '../engine/children/port.ts'
import type { Tool } from '../tools/port.ts'
import type { Component } from '../world/component.ts'
import { EntiaError } from '../base/entia-error.ts'
import { World } from '../world/world.ts'
import { describeValue, misuse } from './describe-value.ts'
import { checkedRange, type Range } from './chance.ts'
import type { Fault, FaultRates } from './fault.ts'
import { type NamedFault, type NamedRates, renamed, withNewNames } from './deprecated.ts'
import type { Law } from './law.ts'
import { standardLaws } from './laws/index.ts'
import type { SimulatedUser } from './simulated-user.ts'
import type { Recording } from '../engine/recording/recording.ts'
import type { RunningServices, ServiceSet } from './service.ts'
import type { TraceEntry } from './trace-entry.ts'
import { callback, count, countFromZero, flag, oneOf, type Shape, type ShapesOf } from '../base/option-shapes.ts'

/** Where a recording has no answer: break the run, or continue with the given models and tools. */
export type OnMiss = 'fail' | 'script'

/** Bounds of one simulated run. */
export interface Bounds {
  /** Ticks of all worlds together. @default 20000 */
  readonly maxTicks?: number
  /** World time from beginning to end, in milliseconds. @default 31536000000, a year */
  readonly maxVirtualMs?: number
  /** Real time without progress, in milliseconds. @default 5000 */
  readonly maxStallMs?: number
  /** @default 200 */
  readonly maxCrashes?: number
}

/** A message from outside to a root world. */
export interface SimulatedLetter {
  /** The name of the world. */
  readonly to: string
  readonly say: string
  /** When it is sent, in milliseconds from the beginning. @default drawn from the seed, from 0 to 60,000 */
  readonly atMs?: number
}

/** What is simulated, and which faults strike it. Everything is created anew for each run. */
export interface SimulateOptions<S extends ServiceSet = ServiceSet> {
  /** Decides latencies, order, faults, crashes, random numbers and ids. @default of `recording`, or 1 */
  readonly seed?: number
  /**
   * Makes a new root world, ideally with this seed. Called at the start and after each crash, so that every process has
   * its own systems; the rest comes from the store. With `letters` it makes those worlds, too, with the name that it gets.
   */
  readonly world: (seed: number, name?: string) => World
  /** Custom components that a restored world may hold: a list, or a module of them. @default those that `world` knows */
  readonly components?: Iterable<Component> | Readonly<Record<string, unknown>>
  readonly models?: Readonly<Record<string, ModelProvider>>
  /** Tools, or a function of the run's services that makes them, called again after each crash. */
  readonly tools?: readonly Tool[] | ((services: RunningServices<S>) => readonly Tool[])
  readonly skills?: readonly SkillDefinition[]
  readonly effects?: Readonly<Record<string, EffectKind>>
  readonly prices?: Readonly<Record<string, Price>>
  readonly services?: S
  /** They answer approvals; without users, approvals are refused. */
  readonly users?: Readonly<Record<string, SimulatedUser>>
  /** @deprecated Use `users`. */
  readonly people?: Readonly<Record<string, SimulatedUser>>
  /** Probabilities of faults, or a list of faults. @default none */
  readonly faults?: NamedRates | readonly NamedFault[]
  /** @default standardLaws */
  readonly laws?: readonly Law[]
  /** Latencies, drawn from the seed, of models and tools that specify none. */
  readonly latencyMs?: { readonly model?: Range; readonly tool?: Range }
  /**
   * How many processes drive the worlds, with one store and one line of sessions between them: a fleet. Each may die, stand
   * still or be cut off while the others go on. @default 1
   */
  readonly processes?: number
  /** Several processes: messages from outside to root worlds by name, which are made at their first. @default none */
  readonly letters?: readonly SimulatedLetter[]
  /** Cap on sessions at once. @default 5 */
  readonly maxSessions?: number
  /** Cap on effects in flight, approvals and sessions aside. @default 1024 */
  readonly maxInFlight?: number
  /** Cap on calls in flight per provider, by name or for each. @default no limit besides `maxInFlight` */
  readonly maxInFlightPerProvider?: number | Readonly<Record<string, number>>
  /** Makes the session pool, once for each process. @default of `maxSessions` */
  readonly sessionPool?: () => SessionPool
  /** Makes the store that survives crashes; `'none'`: there is none. @default in memory, and none without `faults` */
  readonly store?: (() => Store) | 'none'
  readonly bounds?: Bounds
  /**
   * Under each seed, also runs the systems that sleep, to see that their `wakes` miss nothing, and restores every world
   * at the end. Otherwise sleeping systems run under the seeds 1, 9, 17 …, and 1 world in 32 is restored. @default false
   */
  readonly thorough?: boolean
  /** Use of the real clock or real randomness breaks the run, or is only listed in the result. @default 'refuse' */
  readonly realUse?: 'refuse' | 'list'
  /**
   * Models, tools and users answer as in this recorded run, with its latencies; no model or tool is called. `world`
   * gets its seed. @default none
   */
  readonly recording?: Recording
  /** Where the recording has no answer, break the run, or continue with `models` and `tools`. @default 'fail' */
  readonly onMiss?: OnMiss
  /** Gets each line of the trace as it is written; the trace then keeps none. */
  readonly onTrace?: (line: string, entry: TraceEntry) => void
}

/** Tools sleep beyond theirs. */
const defaultLatencyMs = { model: [200, 8_000], tool: [1, 400] } as const

/** What holds for `simulate` where its options say nothing. */
export const simulateDefaults = {
  seed: 1,
  processes: 1,
  maxSessions: sessionPoolDefaults.cap,
  bounds: { maxTicks: 20_000, maxVirtualMs: 365 * 24 * 3_600_000, maxStallMs: 5_000, maxCrashes: 200 },
} as const

const absent = {
  models: {},
  tools: [],
  skills: [],
  effects: {},
  prices: {},
  services: {},
  processes: simulateDefaults.processes,
  letters: [],
  laws: standardLaws,
  maxInFlight: hostDefaults.maxInFlight,
  thorough: false,
  realUse: 'refuse',
  onMiss: 'fail',
} as const

type Optional = Pick<SimulateOptions, 'components' | 'maxInFlightPerProvider' | 'store' | 'recording' | 'onTrace'>

export interface CheckedOptions extends Optional, Required<Omit<SimulateOptions, keyof Optional | 'people'>> {
  readonly faults: FaultRates | readonly Fault[]
  readonly bounds: Required<Bounds>
  readonly latencyMs: { readonly model: Range; readonly tool: Range }
}

export function checkedOptions(options: SimulateOptions): CheckedOptions {
  checkShapes('simulate()', options)
  refuseUnknownOptions('simulate()', options, simulateOptionNames)
  const { maxSessions = simulateDefaults.maxSessions, bounds = {}, latencyMs = {} } = options
  refuseUnknownOptions('simulate({ bounds })', bounds, Object.keys(simulateDefaults.bounds))
  refuseUnknownOptions('simulate({ latencyMs })', latencyMs, ['model', 'tool'])
  for (const [name, bound] of Object.entries(bounds)) {
    if (typeof bound === 'number' && bound > 0) continue
    refuse('simulate()', `bounds.${name}`, 'a number above 0', bound)
  }
  checkPrices(options.prices ?? {}, 'simulate()')
  checkFleet(options)
  const { model = defaultLatencyMs.model, tool = defaultLatencyMs.tool } = latencyMs
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return {
    ...absent,
    seed: options.recording?.seed ?? simulateDefaults.seed,
    maxSessions,
    sessionPool: () => new SessionPool({ cap: maxSessions }),
    ...(Object.fromEntries(given) as SimulateOptions),
    // oxlint-disable-next-line typescript/no-deprecated -- this is where it is read
    users: renamed('simulate()', ['people', 'users'], options.people, options.users) ?? {},
    faults: withNewNames(options.faults ?? {}),
    latencyMs: {
      model: checkedRange('simulate(): latencyMs.model', model),
      tool: checkedRange('simulate(): latencyMs.tool', tool),
    },
    bounds: { ...simulateDefaults.bounds, ...bounds },
  }
}

/** What only one process has, or only several have. */
function checkFleet({ letters = [], processes = 1, recording, sessionPool, store }: SimulateOptions): void {
  if (processes === 1 && letters.length > 0) {
    throw misuse(`simulate(): letters need several processes: pass processes: 3, or let simulated users speak.`)
  }
  if (processes > 1 && store === 'none') {
    throw misuse(`simulate(): several processes share a store, got store: 'none'. Leave it out, or pass processes: 1.`)
  }
  const alone = Object.entries({ recording, sessionPool }).find(([, value]) => value !== undefined)
  if (processes === 1 || alone === undefined) return
  throw misuse(`simulate(): ${alone[0]} is of one process, got it with processes: ${processes}. Leave one of them out.`)
}

type Given = Readonly<Record<string, unknown>>

const shapes = {
  seed: countFromZero,
  world: { wanted: 'a function that makes a World', fits: callback.fits },
  models: byName('providers by name, such as { script: scripted(…) }', has('call')),
  tools: {
    wanted: 'a list of tools as defineTool() makes them, or a function that gives one',
    fits: (value) => typeof value === 'function' || isListOf(value, isTool),
  },
  skills: { wanted: 'a list of skills', fits: (value) => isListOf(value, isRecord) },
  effects: byName('kinds of effects by name, each with a function prepare', has('prepare')),
  prices: byName('prices by model', () => true),
  services: byName('services by name, as service() makes them', has('start')),
  users: byName('users by name, as simulatedUser() makes them', has('behaviour')),
  // oxlint-disable-next-line typescript/no-deprecated -- both names are checked
  people: byName('users by name, as simulatedUser() makes them', has('behaviour')),
  faults: {
    wanted: 'probabilities by place, such as { model: { hang: 0.1 } }, or a list of faults',
    fits: (value) => Array.isArray(value) || isRecord(value),
  },
  laws: {
    wanted: 'a list of laws, such as [...standardLaws, law(name, check)]',
    fits: (value) => isListOf(value, has('watch')),
  },
  components: {
    wanted: 'a list or a module of components',
    fits: (value) => typeof value === 'object' && value !== null,
  },
  latencyMs: byName('ranges for model and tool, such as { tool: [1, 400] }', Array.isArray),
  processes: { wanted: 'an integer from 1 to 20', fits: (value) => count.fits(value) && (value as number) <= 20 },
  letters: {
    wanted: "a list of messages, such as { to: 'desk/1', say: 'Hello' }",
    fits: (value) => isListOf(value, isLetter),
  },
  maxSessions: { wanted: 'an integer ≥ 1', fits: count.fits },
  maxInFlight: {
    wanted: 'an integer ≥ 1, or Infinity',
    fits: isLimit,
  },
  maxInFlightPerProvider: {
    wanted: 'an integer ≥ 1, or an object of these by provider',
    fits: (value) => isLimit(value) || (isRecord(value) && Object.values(value).every(isLimit)),
  },
  sessionPool: { wanted: 'a function that makes a SessionPool', fits: callback.fits },
  store: {
    wanted: "a function that makes a store, such as () => memoryStore(), or 'none'",
    fits: (value) => value === 'none' || callback.fits(value),
  },
  bounds: byName('bounds by name, such as { maxTicks: 1000 }', () => true),
  thorough: flag,
  realUse: oneOf('refuse', 'list'),
  recording: {
    wanted: 'what loadRecording(file) gives',
    fits: (value) => isRecord(value) && Array.isArray(value['worlds']) && value['worlds'].length > 0,
  },
  onMiss: oneOf('fail', 'script'),
  onTrace: { wanted: 'a function that is given lines', fits: callback.fits },
} satisfies ShapesOf<SimulateOptions>

export const simulateOptionNames = Object.keys(shapes)

export function checkShapes(where: string, options: object): void {
  if (!isRecord(options)) {
    throw misuse(`${where} takes options, { world: (seed) => World, … }, got ${describeValue(options)}.`)
  }
  const given: Given = options
  for (const [name, shape] of Object.entries(shapes)) {
    const value = given[name]
    const isAbsent = value === undefined && name !== 'world'
    if (!isAbsent && !shape.fits(value)) refuse(where, name, shape.wanted, value)
  }
}

export function checkTools(tools: unknown): void {
  if (!isListOf(tools, isTool)) {
    refuse('simulate()', 'tools', 'a function that gives a list of tools as defineTool() makes them', tools)
  }
}

/** Checks what a factory of the options returned. @throws `invalid-argument` */
export function checkMade<T extends object>(name: 'store' | 'sessionPool', made: T, methods: readonly (keyof T)[]): T {
  const lacking = methods.find((method) => !isRecord(made) || typeof made[method] !== 'function')
  if (lacking === undefined) return made
  return refuse('simulate()', name, `${shapes[name].wanted}, which has ${String(lacking)}()`, made)
}

function refuse(where: string, name: string, wanted: string, value: unknown): never {
  throw new EntiaError('invalid-argument', `${where}: ${name} must be ${wanted}, got ${describeValue(value)}.`, {
    option: name,
  })
}

function byName(wanted: string, fits: (value: unknown) => boolean): Shape {
  return { wanted, fits: (value) => isRecord(value) && Object.values(value).every(fits) }
}

function has(method: string): (value: unknown) => boolean {
  return (value) => isRecord(value) && typeof value[method] === 'function'
}

function isLimit(value: unknown): boolean {
  return value === Infinity || count.fits(value)
}

function isTool(value: unknown): boolean {
  return isRecord(value) && isRecord(value['declaration']) && typeof value['call'] === 'function'
}

function isLetter(value: unknown): boolean {
  if (!isRecord(value) || typeof value['to'] !== 'string' || typeof value['say'] !== 'string') return false
  return value['atMs'] === undefined || countFromZero.fits(value['atMs'])
}

function isListOf(value: unknown, fits: (value: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(fits)
}

function isRecord(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const made = new WeakSet<World>()

/**
 * Refuses what is no World, and a World used before: it would be at its end, and keep every law. @throws
 * `invalid-argument`
 */
export function madeAnew(world: World): World {
  if (!(world instanceof World)) {
    throw misuse(`simulate(): 'world' is a function that makes a World; it made ${describeValue(world)}.`)
  }
  if (made.has(world)) {
    const what = `simulate(): 'world' gave the World '${world.name}' a second time`
    throw misuse(`${what}. Have it make a new one each time it is called.`)
  }
  made.add(world)
  return world
}
