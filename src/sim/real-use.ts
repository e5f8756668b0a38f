import { AsyncLocalStorage } from 'node:async_hooks'
import nodeCrypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/** A use of the real clock or real randomness inside a simulation. */
export interface RealUse {
  /** The user: `tool 'search' of team`, `system 'pricing' of team`. */
  readonly name: string
  readonly used: string
}

export interface Worker {
  readonly name: string
  readonly tell: (use: RealUse) => void
}

/** The systems of one simulation. They are synchronous: every use while one runs is its own. */
interface SystemWatch {
  readonly running: () => string | undefined
  readonly tell: (use: RealUse) => void
}

const systemWatches = new Set<SystemWatch>()
const workers = new AsyncLocalStorage<Worker | undefined>()
/** Number of simulations in this process: globals are watched while there is one. */
let watchers = 0
let unwatch: (() => void) | undefined

/** Runs work, and reports its use of the real clock or randomness to the worker. */
export function inSimulation<A, T>(worker: Worker | undefined, work: (about: A) => T, about: A): T {
  return workers.run(worker, work, about)
}

/** The current worker; in a nested simulation, the outer one's. */
export function presentWorker(): Worker | undefined {
  return workers.getStore()
}

/**
 * Watches the clock and randomness of this process, for work run `inSimulation` and for these systems. Returns a
 * function that stops.
 */
export function watchRealUse(systems?: SystemWatch): () => void {
  if (watchers++ === 0) unwatch = watchGlobals()
  if (systems !== undefined) systemWatches.add(systems)
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    if (systems !== undefined) systemWatches.delete(systems)
    if (--watchers === 0) unwatch?.()
  }
}

/** Outside of a worker, every global behaves as before. */
function watchGlobals(): () => void {
  const undo = [
    replaced(Math, 'random', 'Math.random()'),
    replaced(performance, 'now', 'performance.now()'),
    replaced(crypto, 'randomUUID', 'crypto.randomUUID()'),
    replaced(crypto, 'getRandomValues', 'crypto.getRandomValues()'),
    replaced(globalThis, 'setTimeout', 'setTimeout()'),
    replaced(globalThis, 'setInterval', 'setInterval()'),
    replaced(process.hrtime, 'bigint', 'process.hrtime.bigint()'),
    replaced(process, 'hrtime', 'process.hrtime()'),
    ...nodeDice.map((name) => replaced(nodeCrypto, name, `${name}() of node:crypto`)),
    watchDate(),
  ]
  // Modules that imported names of `node:crypto` get the current ones.
  syncBuiltinESMExports()
  return () => {
    for (const each of undo) each()
    syncBuiltinESMExports()
  }
}

const nodeDice = ['randomUUID', 'randomBytes', 'randomInt', 'randomFill', 'randomFillSync'] as const

function replaced<K extends string>(
  owner: { [key in K]: (...parts: never[]) => unknown },
  key: K,
  used: string,
): () => void {
  const own = Object.getOwnPropertyDescriptor(owner, key)
  const original = owner[key]
  const watched = Object.assign(function (this: unknown, ...parts: never[]): unknown {
    note(used)
    return Reflect.apply(original, owner, parts)
  }, original)
  // Assign own properties instead of redefining them: V8 would then look up every `Math.floor` by name.
  if (own?.writable === true) {
    owner[key] = watched
    return () => {
      owner[key] = original
    }
  }
  Object.defineProperty(owner, key, { value: watched, configurable: true, writable: true, enumerable: true })
  return () => {
    if (own === undefined) Reflect.deleteProperty(owner, key)
    else Object.defineProperty(owner, key, own)
  }
}

function watchDate(): () => void {
  const original = globalThis.Date
  globalThis.Date = new Proxy(original, {
    construct(target, parts: [], newTarget) {
      if (parts.length === 0) note('new Date()')
      return Reflect.construct(target, parts, newTarget) as object
    },
    apply(target) {
      note('Date()')
      return target()
    },
    get(target, key) {
      if (key === 'now') note('Date.now()')
      return Reflect.get(target, key) as unknown
    },
  })
  return () => {
    globalThis.Date = original
  }
}

function note(used: string): void {
  for (const { running, tell } of systemWatches) {
    const name = running()
    if (name !== undefined) return tell({ name, used })
  }
  const worker = workers.getStore()
  if (worker !== undefined) worker.tell({ name: worker.name, used })
}

/** Calls `stands` whenever `progress` has not changed for so long, in real time. Returns a function that stops. */
export function watchStandstill(progress: () => number, stands: () => void, maxStallMs: number): () => void {
  let before = progress()
  const timer = setInterval(() => {
    const now = progress()
    if (now === before) stands()
    before = now
  }, maxStallMs)
  return () => clearInterval(timer)
}
