import { EntiaError } from '../base/entia-error.ts'
import type { Json } from '../base/json.ts'

/** Deepest nesting that a stored value may have. */
export const maxDepth = 256

/** Additional depth for inputs and saved lines that wrap a value. */
const wrapping = 16

/** Depth at which cycles are looked for: following one to `maxDepth` would copy it each time. */
const cycleDepth = 8

/** `explain` then finds which part is not JSON. */
const unfit = Symbol('unfit')
type Visited = Json | typeof unfit

/**
 * Plain JSON, keys sorted, deeply frozen, so that `JSON.stringify` gives the same bytes for the same data. Canonical values
 * are returned as they are, others copied; lone surrogates become U+FFFD.
 *
 * @param where whose value it is, for errors
 * @param adoptedLevels levels, from the top, to freeze in place: only for objects that no one else holds. @default none
 * @throws `not-json` with the path
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

/** `undefined` if it is not JSON. `outerLevels`: levels it will be nested in. @default 0 */
export function canonicalOrNone(value: unknown, outerLevels = 0): Json | undefined {
  const result = visit(value, outerLevels, 0)
  return result === unfit ? undefined : result
}

function visit(node: unknown, depth: number, adopted: number): Visited {
  switch (typeof node) {
    case 'string':
      // Providers refuse lone surrogates, and files do not keep them.
      return node.isWellFormed() ? node : node.toWellFormed()
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

/** Fully adopted values were parsed or are canonical, so they have no cycle. */
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
  // `Object.assign` is cheaper than to spread objects of many shapes, and `__proto__` is not among the keys.
  let copy = depth <= adopted ? undefined : Object.assign<Record<string, unknown>, unknown>({}, source)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    const item = source[key]
    // Goes on from the partial copy: starting over would double the work with every level.
    if (item === undefined) return rebuilt(copy ?? source, keys, depth, adopted)
    const value =
      typeof item !== 'string' ? visit(item, depth, adopted) : item.isWellFormed() ? item : item.toWellFormed()
    if (value === unfit) return unfit
    if (!Object.is(value, item)) (copy ??= { ...source })[key] = value
  }
  return Object.freeze((copy ?? source) as Json)
}

/** Checked without listing its keys, as it mostly is canonical already. */
function visitFrozen(source: Readonly<Record<string, unknown>>, depth: number, adopted: number): Visited {
  let copy: Record<string, Json> | undefined
  let before = ''
  for (const key in source) {
    const item = source[key]
    if (item === undefined || (key < before && !isIndex(before)) || !key.isWellFormed()) {
      return rebuilt(copy ?? source, sorted(Object.keys(source)), depth, adopted)
    }
    before = key
    const value =
      typeof item !== 'string' ? visit(item, depth, adopted) : item.isWellFormed() ? item : item.toWellFormed()
    if (value === unfit) return unfit
    if (!Object.is(value, item)) assign((copy ??= { ...source } as Record<string, Json>), key, value)
  }
  return copy === undefined ? (source as Json) : Object.freeze(copy)
}

function rebuilt(
  source: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  depth: number,
  adopted: number,
): Visited {
  for (const key of keys) {
    if (key.isWellFormed()) continue
    const renamed = withWellFormedKeys(source, keys)
    return rebuilt(renamed, sorted(Object.keys(renamed)), depth, adopted)
  }
  const copy = keys.length > maxGrown ? blank(keys.filter((key) => source[key] !== undefined)) : {}
  for (const key of keys) {
    const item = source[key]
    if (item === undefined) continue
    const value = visit(item, depth, adopted)
    if (value === unfit) return unfit
    if (key === '__proto__') assign(copy, key, value)
    else copy[key] = value
  }
  return Object.freeze(copy)
}

/** If keys become equal, the last wins. */
function withWellFormedKeys(source: Readonly<Record<string, unknown>>, keys: readonly string[]) {
  const renamed: Record<string, unknown> = {}
  for (const key of keys) assign(renamed, key.toWellFormed(), source[key])
  return renamed
}

/** An object that grows past this many keys becomes a hash table, several times the size. */
const maxGrown = 12
const blanks = new Map<string, Record<string, Json>>()
const maxBlanks = 1_000

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

/** Whether a value contains itself or is nested too deeply. */
export function isEndless(node: unknown, above = new Set<object>()): boolean {
  if (typeof node !== 'object' || node === null || !isPlain(node)) return false
  if (above.has(node) || above.size > maxDepth) return true
  above.add(node)
  const found = Object.values(node).some((item) => isEndless(item, above))
  above.delete(node)
  return found
}

function isPlain(node: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(node)
  return prototype === Object.prototype || prototype === null || Array.isArray(node)
}

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

/** In place. Faster than `sort` for few keys. */
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

/** Whether keys are sorted and can be kept as they are. */
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

/** Array indices come first in any object, in numeric order: as sorted as they can be. */
export function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1
}

function className(node: object): string {
  const constructor: unknown = (node as { constructor?: unknown }).constructor
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'a class'
}
