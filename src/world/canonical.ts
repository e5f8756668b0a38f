import { EntiaError } from './entia-error.ts'
import type { Json } from './json.ts'

/** Deepest nesting that a stored value may have. */
export const maxDepth = 256

/** How much deeper a value may lie within inputs and lines of snapshots and journals. */
const wrapping = 16

/** The depth at which cycles are looked for: going round one to the greatest depth would copy all of it each time. */
const cycleDepth = 8

/** Marks a value that is not JSON; `explain` then finds which part of it, and where. */
const unfit = Symbol('unfit')
type Visited = Json | typeof unfit

/**
 * The canonical form of a value: plain JSON, keys sorted, deeply frozen, so that `JSON.stringify` gives the same bytes
 * for the same data from then on. What is canonical already comes back as the same object; anything else is copied. Half a
 * surrogate pair in a text or a key becomes U+FFFD.
 *
 * @param where says whose value it is, for the error message
 * @param adoptedLevels how many levels, from the top, are frozen in place instead of copied: for objects that no one
 * else holds. @default none
 * @throws `not-json` naming the path and what stands there
 */
export function canonical(value: unknown, where: () => string, adoptedLevels = 0): Json {
  const result = visit(value, 0, adoptedLevels)
  if (result !== unfit) return result
  const path: string[] = []
  const got = explain(value, path)
  const at = path.length === 0 ? '' : ` at ${path.join('.')}`
  const advice = adviceFor[got.split(' ', 2).join(' ')] ?? 'Store plain data only.'
  throw new EntiaError('not-json', `${where()}${at}: expected JSON, got ${got}. ${advice}`, { path })
}

const adviceFor: Readonly<Record<string, string>> = {
  'a cycle': 'Store plain data only, and refer to an object by an id or an entity number.',
  'more than': 'Store plain data only: flatten it, or store it as a text.',
}

/**
 * The canonical form of a value; `undefined` if it is no JSON.
 *
 * @param outerLevels how many levels it will lie within: it may nest that much less. @default 0
 */
export function canonicalOrNone(value: unknown, outerLevels = 0): Json | undefined {
  const result = visit(value, outerLevels, 0)
  return result === unfit ? undefined : result
}

function visit(node: unknown, depth: number, adopted: number): Visited {
  switch (typeof node) {
    case 'string':
      return wellFormed(node)
    case 'boolean':
      return node
    case 'number':
      return Number.isFinite(node) ? node + 0 : unfit
    case 'object':
      if (node === null) return null
      if (depth >= cycleDepth && isTooDeep(node, depth, adopted)) return unfit
      return Array.isArray(node) ? visitArray(node, depth + 1, adopted) : visitObject(node, depth + 1, adopted)
    default:
      return unfit
  }
}

/** No text of a world has half a surrogate pair in it: no provider takes one, and no file keeps it as it was. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

/** Values that are adopted whole were parsed or are canonical: they have no cycle. */
function isTooDeep(node: object, depth: number, adopted: number): boolean {
  if (adopted === Infinity) return depth >= maxDepth + wrapping
  return depth >= maxDepth || (depth === cycleDepth && hasCycle(node, new Set()))
}

function visitArray(items: readonly unknown[], depth: number, adopted: number): Visited {
  const isFrozen = Object.isFrozen(items)
  let copy: Json[] | undefined = isFrozen || depth <= adopted ? undefined : []
  for (let index = 0; index < items.length; index++) {
    const item = visit(items[index], depth, adopted)
    if (item === unfit) return unfit
    if (copy === undefined && !Object.is(item, items[index])) copy = items.slice(0, index) as Json[]
    copy?.push(item)
  }
  if (copy === undefined && isFrozen) return items as readonly Json[]
  // `slice` drops the spare room of an array that was pushed to.
  return Object.freeze(copy?.slice() ?? (items as Json[]))
}

function visitObject(node: object, depth: number, adopted: number): Visited {
  const prototype: unknown = Object.getPrototypeOf(node)
  if (prototype !== Object.prototype && prototype !== null) return unfit
  const source = node as Readonly<Record<string, unknown>>
  if (prototype !== null && Object.isFrozen(source)) return visitFrozen(source, depth, adopted)
  const keys = Object.keys(source)
  if (prototype === null || !isOrdered(keys)) return rebuilt(source, sorted(keys), depth, adopted)
  let copy = depth <= adopted ? undefined : copyOf(source)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    const item = source[key]
    // Goes on from the partial copy: starting over would double the work with every level.
    if (item === undefined) return rebuilt(copy ?? source, keys, depth, adopted)
    const value = typeof item === 'string' ? wellFormed(item) : visit(item, depth, adopted)
    if (value === unfit) return unfit
    if (!Object.is(value, item)) (copy ??= copyOf(source))[key] = value
  }
  return Object.freeze((copy ?? source) as Json)
}

/** Mostly canonical already: checked without listing its keys. */
function visitFrozen(source: Readonly<Record<string, unknown>>, depth: number, adopted: number): Visited {
  let copy: Record<string, Json> | undefined
  let before = ''
  for (const key in source) {
    const item = source[key]
    if (item === undefined || (key < before && !isIndex(before)) || !key.isWellFormed()) {
      return rebuilt(copy ?? source, sorted(Object.keys(source)), depth, adopted)
    }
    before = key
    const value = typeof item === 'string' ? wellFormed(item) : visit(item, depth, adopted)
    if (value === unfit) return unfit
    if (!Object.is(value, item)) assign((copy ??= { ...source } as Record<string, Json>), key, value)
  }
  return copy === undefined ? (source as Json) : Object.freeze(copy)
}

/** A copy key by key, for objects whose keys must be sorted, changed or left out. */
function rebuilt(
  source: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  depth: number,
  adopted: number,
): Visited {
  if (!keys.every((key) => key.isWellFormed())) {
    const renamed = withWellFormedKeys(source, keys)
    return rebuilt(renamed, sorted(Object.keys(renamed)), depth, adopted)
  }
  const copy = keys.length > maxGrown ? blank(keys.filter((key) => source[key] !== undefined)) : {}
  for (const key of keys) {
    const item = source[key]
    if (item === undefined) continue
    const value = visit(item, depth, adopted)
    if (value === unfit) return unfit
    assign(copy, key, value)
  }
  return Object.freeze(copy)
}

/** Of keys that become one and the same, the last has its value there. */
function withWellFormedKeys(source: Readonly<Record<string, unknown>>, keys: readonly string[]) {
  const renamed: Record<string, unknown> = {}
  for (const key of keys) assign(renamed, wellFormed(key), source[key])
  return renamed
}

/** A copy of an object that has no key `__proto__`. Where objects of many shapes come by, it is cheaper than spreading. */
function copyOf(source: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.assign({}, source)
}

/** An object that grows key by key past this becomes a hash table, of several times the size. */
const maxGrown = 12
const blanks = new Map<string, Record<string, Json>>()
/** So many shapes of wide objects are remembered before all are forgotten. */
const maxBlanks = 1_000

/** A wide object with these keys, to be filled in. */
function blank(keys: readonly string[]): Record<string, Json> {
  const shape = keys.join('\n')
  let known = blanks.get(shape)
  if (known === undefined) {
    if (blanks.size >= maxBlanks) blanks.clear()
    known = JSON.parse(`{${keys.map((key) => `${JSON.stringify(key)}:null`).join()}}`) as Record<string, Json>
    blanks.set(shape, known)
  }
  return { ...known }
}

function hasCycle(node: object, above: Set<object>): boolean {
  if (above.has(node)) return true
  if (above.size > maxDepth) return false
  above.add(node)
  const found = Object.values(node).some((item) => typeof item === 'object' && item !== null && hasCycle(item, above))
  above.delete(node)
  return found
}

/** Whether a value contains itself, or nests past the greatest depth. */
export function isEndless(node: unknown, above = new Set<object>()): boolean {
  if (typeof node !== 'object' || node === null || !isPlain(node)) return false
  if (above.has(node) || above.size > maxDepth) return true
  above.add(node)
  const found = Object.values(node).some((item) => isEndless(item, above))
  above.delete(node)
  return found
}

/** An array, or an object without a class. */
function isPlain(node: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(node)
  return prototype === Object.prototype || prototype === null || Array.isArray(node)
}

/** What is unfit, and the path to it. */
function explain(node: unknown, path: string[], above: readonly object[] = []): string {
  if (typeof node === 'number') return String(node)
  if (typeof node !== 'object' || node === null) return node === undefined ? 'undefined' : `a ${typeof node}`
  if (above.includes(node)) return 'a cycle'
  if (path.length >= maxDepth) {
    path.length = 0
    return `more than ${maxDepth} levels`
  }
  if (!isPlain(node)) return `an instance of ${className(node)}`
  for (const [key, item] of Object.entries(node)) {
    if ((item === undefined && !Array.isArray(node)) || visit(item, path.length + 1, 0) !== unfit) continue
    path.push(key)
    return explain(item, path, [...above, node])
  }
  return 'a hole'
}

/** Sets an own property, `__proto__` included. */
export function assign<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else target[key] = value
}

/** Sorts keys in place. Mostly they are few, and then this is faster than `sort`. */
function sorted(keys: string[]): readonly string[] {
  if (keys.length > maxGrown) return keys.sort()
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] as string
    let place = index
    for (; place > 0 && (keys[place - 1] as string) > key; place--) keys[place] = keys[place - 1] as string
    keys[place] = key
  }
  return keys
}

/** Are keys in order as they come, and none of them one that has to be written otherwise? */
function isOrdered(keys: readonly string[]): boolean {
  let before = ''
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    if (key < before && !isIndex(before)) return false
    if (key === '__proto__' || !key.isWellFormed()) return false
    before = key
  }
  return true
}

/** Keys that look like array indices stand first in any object, in numeric order, and are as sorted as they can be. */
export function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1
}

function className(node: object): string {
  const constructor: unknown = (node as { constructor?: unknown }).constructor
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'a class'
}
