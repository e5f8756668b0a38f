import { EntiaError } from './entia-error.ts'

/** A log's items by the array that is given out for them, and the other way round. */
const itemsBehind = new WeakMap<object, readonly unknown[]>()
const givenFor = new WeakMap<object, readonly unknown[]>()

/** Methods that pass each item to a function, as `map` does. They run on the items themselves: a proxy is slow to go through. */
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

/** A log's items as others may have them: an array that shows later appends, and that no cast makes writable. */
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
