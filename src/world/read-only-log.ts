import { EntiaError } from '../base/entia-error.ts'

const itemsBehind = new WeakMap<object, readonly unknown[]>()
const givenFor = new WeakMap<object, readonly unknown[]>()

/** Run on the items themselves, as proxies are slow. */
const visiting: ReadonlySet<unknown> = new Set([
  'every',
  'filter',
  'find',
  'findIndex',
  'findLast',
  'findLastIndex',
  'flatMap',
  'forEach',
  'map',
  'some',
])

type Visit = (item: unknown, index: number, log: unknown) => unknown

const handler: ProxyHandler<readonly unknown[]> = {
  get(items, key, log) {
    if (key === 'length') return items.length
    if (key === Symbol.iterator) return () => items.values()
    if (key === 'at') return (index: number) => items.at(index)
    if (key === 'slice') return (start?: number, end?: number) => items.slice(start, end)
    if (!visiting.has(key)) return Reflect.get(items, key) as unknown
    return (visit: Visit, self?: unknown) =>
      items[key as 'map']((item, index) => Reflect.apply(visit, self, [item, index, log]))
  },
  defineProperty: refuse,
  deleteProperty: refuse,
  preventExtensions: refuse,
  set: refuse,
  setPrototypeOf: refuse,
}

function refuse(): never {
  const advice = 'Use world.append, world.splice or world.rewrite, or change a copy: [...log]'
  throw new EntiaError('invalid-argument', `A log that was read cannot be changed in place. ${advice}.`)
}

/** A read-only view that shows later appends. */
export function readOnly<T>(items: readonly T[]): readonly T[] {
  let given = givenFor.get(items) as readonly T[] | undefined
  if (given === undefined) {
    given = new Proxy<readonly T[]>(items, handler)
    givenFor.set(items, given)
    itemsBehind.set(given, items)
  }
  return given
}

/** The items themselves, for the engine's own loops; any other array as it is. */
export function itemsOf<T>(log: readonly T[]): readonly T[] {
  return (itemsBehind.get(log) as readonly T[] | undefined) ?? log
}
