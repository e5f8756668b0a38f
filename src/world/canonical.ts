import { EntiaError } from './entia-error.ts'
import type { Json } from './json.ts'

/** Deepest nesting that a stored value may have. Also what stops a cycle. */
export const maxDepth = 256

/**
 * The canonical form of a value: plain JSON, keys sorted, deeply frozen, so that `JSON.stringify` gives the same bytes
 * for the same data from then on. What is canonical already comes back as the same object; anything else is copied.
 *
 * @param where says whose value it is, for the error message
 * @param adopt freeze plain objects in place instead of copying them: for values that nobody else holds
 * @throws `not-json` naming the path and what stands there
 */
export function canonical(value: unknown, where: () => string, adopt = false): Json {
  const path: (string | number)[] = []
  const fail = (came: string): never => {
    const at = path.length === 0 ? '' : ` at ${path.join('.')}`
    throw new EntiaError('not-json', `${where()}${at}: expected JSON, came ${came}. Store plain data only.`, { path })
  }

  function visit(node: unknown): Json {
    switch (typeof node) {
      case 'string':
      case 'boolean':
        return node
      case 'number':
        return Number.isFinite(node) ? node + 0 : fail(String(node))
      case 'object':
        if (node === null) return null
        if (path.length >= maxDepth) return fail(`a cycle, or more than ${maxDepth} levels`)
        return Array.isArray(node) ? visitArray(node) : visitObject(node)
      default:
        return fail(node === undefined ? 'undefined' : `a ${typeof node}`)
    }
  }

  function visitArray(items: readonly unknown[]): readonly Json[] {
    const done = Object.isFrozen(items)
    let copy: Json[] | undefined = done || adopt ? undefined : []
    for (let index = 0; index < items.length; index++) {
      path.push(index)
      const item = visit(items[index])
      path.pop()
      if (copy === undefined && item !== items[index]) copy = items.slice(0, index) as Json[]
      copy?.push(item)
    }
    return copy === undefined ? (done ? (items as Json[]) : Object.freeze(items as Json[])) : Object.freeze(copy)
  }

  function visitObject(node: object): Json {
    const prototype: unknown = Object.getPrototypeOf(node)
    if (prototype !== Object.prototype && prototype !== null) return fail(`an instance of ${className(node)}`)
    const source = node as Record<string, unknown>
    const keys = Object.keys(source)
    const reusable = (adopt || Object.isFrozen(source)) && prototype !== null
    let changed = !reusable
    if (!isSorted(keys)) {
      keys.sort()
      // Integer-like keys stand first whatever the order of insertion, so a frozen object may be as sorted as it can be.
      changed ||= !sameOrder(keys, source)
    }
    const values: Json[] = []
    for (const key of keys) {
      const item = source[key]
      if (item === undefined) {
        changed = true
        values.push(null)
        continue
      }
      path.push(key)
      const value = visit(item)
      path.pop()
      if (value !== item) changed = true
      values.push(value)
    }
    if (!changed) return Object.freeze(source) as Json
    const copy: Record<string, Json> = {}
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string
      if (source[key] !== undefined) assign(copy, key, values[index] as Json)
    }
    return Object.freeze(copy)
  }

  return visit(value)
}

/** Sets an own property, `__proto__` included. */
export function assign(target: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else target[key] = value
}

function isSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++) {
    if ((keys[index - 1] as string) > (keys[index] as string)) return false
  }
  return true
}

function sameOrder(sorted: readonly string[], source: object): boolean {
  const rebuilt: Record<string, true> = {}
  for (const key of sorted) rebuilt[key] = true
  const best = Object.keys(rebuilt)
  return Object.keys(source).every((key, index) => key === best[index])
}

function className(node: object): string {
  const constructor: unknown = (node as { constructor?: unknown }).constructor
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'a class'
}
