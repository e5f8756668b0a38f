import { AsyncLocalStorage } from 'node:async_hooks'
import nodeCrypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/** Something in a simulation that read the real clock, or drew real random numbers. */
export interface RealUse {
  /** Who did: `tool 'search' of team`, `system 'pricing' of team`. */
  readonly name: string
  /** What it used: `Date.now()`. */
  readonly used: string
}

export interface Worker {
  readonly name: string
  readonly tell: (use: RealUse) => void
}

/** The systems of one simulation. They are synchronous: whatever is used while one of them runs, that one uses. */
interface SystemWatch {
  /** The system that runs at this moment, such as `system 'pricing' of team`; `undefined`: none does. */
  readonly running: () => string | undefined
  readonly tell: (use: RealUse) => void
}

const systemWatches = new Set<SystemWatch>()
const workers = new AsyncLocalStorage<Worker | undefined>()
/** How many simulations are under way in this process: the globals are watched as long as there is one. */
let watchers = 0
let unwatch: (() => void) | undefined

/** Does work; what it uses of the real clock or real dice is reported to the worker, if there is one. */
export function inSimulation<A, T>(worker: Worker | undefined, work: (about: A) => T, about: A): T {
  return workers.run(worker, work, about)
}

/** The worker to whom real use is reported now; in a simulation within a simulation, the outer one's. */
export function presentWorker(): Worker | undefined {
  return workers.getStore()
}

/**
 * Watches the clock and the dice of this process, for work that is done `inSimulation` and for these systems. Gives a
 * function that ends it.
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

/** What stands in a worker's way only while a simulation is under way: everybody else gets what they always got. */
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
  // Those who have imported names of `node:crypto` have what is there at the moment.
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
  // What is its own is written over, not defined anew: to V8 `Math` would be another object after that, whose every
  // `Math.floor` is looked up by name.
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

/** `new Date()` reads the clock, `new Date(0)` does not. */
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

interface Standstill {
  /** Another number whenever something has gone on. */
  readonly progress: () => number
  /** Called when nothing has for so long. */
  readonly stands: () => void
}

/** Watches, in real time, that a run goes on. Gives a function that ends the watch. */
export function watchStandstill({ progress, stands }: Standstill, maxStallMs: number): () => void {
  let before = progress()
  const timer = setInterval(() => {
    const now = progress()
    if (now === before) stands()
    before = now
  }, maxStallMs)
  return () => clearInterval(timer)
}
