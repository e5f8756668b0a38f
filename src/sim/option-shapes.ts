import { EntiaError } from '../world/entia-error.ts'
import { callback, count, oneOf, type Shape } from '../world/option-shapes.ts'
import { describeValue } from './describe-value.ts'
import { World } from '../world/world.ts'

/** Options of a run as they come: what is plain JavaScript, nobody has checked. */
type Given = Readonly<Record<string, unknown>>

const shapes = {
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
    wanted: 'a list of components',
    fits: (value) => typeof value === 'object' && value !== null && Symbol.iterator in value,
  },
  latencyMs: byName('ranges for model and tool, such as { tool: [1, 400] }', Array.isArray),
  maxSessions: { wanted: 'an integer ≥ 1', fits: count.fits },
  maxInFlight: {
    wanted: 'an integer ≥ 1, or Infinity',
    fits: (value) => value === Infinity || count.fits(value),
  },
  sessionPool: { wanted: 'a function that makes a SessionPool', fits: callback.fits },
  store: { wanted: 'a function that makes a store, such as () => memoryStore()', fits: callback.fits },
  bounds: byName('bounds by name, such as { maxTicks: 1000 }', () => true),
  realUse: oneOf('refuse', 'list'),
  recording: {
    wanted: 'what loadRecording(file) gives',
    fits: (value) => isRecord(value) && Array.isArray(value['worlds']) && value['worlds'].length > 0,
  },
  onMiss: oneOf('fail', 'script'),
  onTrace: { wanted: 'a function that is given lines', fits: callback.fits },
} satisfies Readonly<Record<string, Shape>>

/** Refuses options that are no object, or hold what no run can be made of. @throws `invalid-argument` */
export function checkShapes(where: string, options: object): void {
  if (!isRecord(options)) {
    throw new EntiaError(
      'invalid-argument',
      `${where} takes options, { world: (seed) => World, … }, got ${describeValue(options)}.`,
    )
  }
  const given: Given = options
  for (const [name, shape] of Object.entries(shapes)) {
    const value = given[name]
    if (value !== undefined && !shape.fits(value)) refuse(where, name, shape.wanted, value)
  }
}

/** The tools of a run, which a function may have made of its services. @throws `invalid-argument` */
export function checkTools(tools: unknown): void {
  if (!isListOf(tools, isTool)) {
    refuse('simulate()', 'tools', 'a function that gives a list of tools as defineTool() makes them', tools)
  }
}

/** What a function of the options has made, if it can do what is asked of such a thing. @throws `invalid-argument` */
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

function isTool(value: unknown): boolean {
  return isRecord(value) && isRecord(value['declaration']) && typeof value['call'] === 'function'
}

function isListOf(value: unknown, fits: (value: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(fits)
}

function isRecord(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Every world that was simulated and is still there. */
const made = new WeakSet<World>()

/**
 * What `world` has made, if it is a World that no run has had: one that has been run is at its end, and would keep every law.
 *
 * @throws `invalid-argument`
 */
export function madeAnew(world: World): World {
  if (!(world instanceof World)) {
    throw new EntiaError(
      'invalid-argument',
      `simulate(): 'world' is a function that makes a World; it made ${describeValue(world)}.`,
    )
  }
  if (made.has(world)) {
    const what = `simulate(): 'world' gave the World '${world.name}' a second time`
    throw new EntiaError('invalid-argument', `${what}. Have it make a new one each time it is called.`)
  }
  made.add(world)
  return world
}
