import { inspect, types } from 'node:util'

/** What the process of `run_js` says of a value. */
export interface DescribedValue {
  /** Compact JSON that says the same. Absent: there is none, or it is longer than 10,000,000 characters. */
  readonly json?: string | undefined
  /** As a console prints it, at most 10,000 characters. */
  readonly preview: string
  /** What a value without JSON is, in one line. */
  readonly shape: string
  /** The preview leaves something out, or is long. */
  readonly isLong: boolean
}

const maxJsonChars = 10_000_000
const maxJsonEntries = 1_000_000
const maxJsonDepth = 100
const maxPreviewChars = 10_000
const maxShortPreviewChars = 2_000
const maxShortSize = 50
const maxShapeChars = 300

/** Describes a value of the same thread. Getters are not called, and proxies not asked. */
export function describeValue(value: unknown): DescribedValue {
  const json = jsonOf(value)
  const isWhole = json !== undefined && json.length <= maxPreviewChars
  const whole = inspected(value, isWhole ? Infinity : 2)
  const size = sizeOf(value) ?? 0
  return {
    ...(json !== undefined && { json }),
    preview: cut(whole, maxPreviewChars),
    shape: cut(shapeOf(value).replaceAll(/[\s\x85]+/g, ' '), maxShapeChars),
    isLong: whole.length > maxShortPreviewChars || size > maxShortSize,
  }
}

/**
 * A thrown value as it is shown: without frames of Node and of this program.
 * @param shift what stands before the first line of the code, in characters
 */
export function describeProblem(thrown: unknown, shift: number): string {
  const own = import.meta.url.slice(0, import.meta.url.lastIndexOf('/') + 1)
  const lines = inspected(thrown, 2).split('\n')
  const shown = lines.filter((line) => !/^\s+at .*(node:internal\/|node:inspector)/.test(line) && !line.includes(own))
  const text = shown.join('\n').replaceAll(/\brun_js:1:(\d+)/g, (_, column) => `run_js:1:${Number(column) - shift}`)
  // An error without a stack is printed in brackets.
  return cut(`Uncaught ${text.replace(/^\[(.*)\]$/, '$1')}`, maxPreviewChars)
}

function inspected(value: unknown, depth: number): string {
  try {
    return inspect(value, {
      depth,
      maxArrayLength: 100,
      maxStringLength: maxPreviewChars,
      breakLength: 120,
      showProxy: true,
    })
  } catch {
    return Object.prototype.toString.call(value)
  }
}

/** `undefined` for what JSON cannot say without a loss. */
function jsonOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value.length > maxJsonChars) return undefined
  const open = new Set<object>()
  let entries = 0
  const isJson = (item: unknown, depth: number): boolean => {
    if (item === null || typeof item === 'string' || typeof item === 'boolean') return true
    if (typeof item === 'number') return Number.isFinite(item)
    if (typeof item !== 'object' || types.isProxy(item) || open.has(item) || depth > maxJsonDepth) return false
    const keys = Reflect.ownKeys(item)
    if (Array.isArray(item)) {
      // Its length is a key, too; holes are none.
      if (Object.getPrototypeOf(item) !== Array.prototype || keys.length !== item.length + 1) return false
    } else {
      const prototype: unknown = Object.getPrototypeOf(item)
      if (prototype !== null && prototype !== Object.prototype) return false
    }
    entries += keys.length
    if (entries > maxJsonEntries) return false
    open.add(item)
    const isPlain = keys.every((key) => {
      if (key === 'length' && Array.isArray(item)) return true
      const property = Object.getOwnPropertyDescriptor(item, key)
      if (typeof key === 'symbol' || property?.enumerable !== true || !('value' in property)) return false
      return isJson(property.value, depth + 1)
    })
    open.delete(item)
    return isPlain
  }
  if (!isJson(value, 0)) return undefined
  const json = JSON.stringify(value)
  return json.length > maxJsonChars ? undefined : json
}

function shapeOf(value: unknown): string {
  if (typeof value === 'string') return `text of ${value.length} characters`
  if (typeof value === 'function') return inspected(value, 0)
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`
  const kind = types.isProxy(value) ? 'Proxy' : Object.prototype.toString.call(value).slice(8, -1)
  const size = sizeOf(value)
  if (size !== undefined) return `${nameOf(value) ?? kind} of ${size}`
  return `${nameOf(value) ?? kind}: ${inspected(value, 0)}`
}

/** Name of its class. */
function nameOf(value: object): string | undefined {
  if (types.isProxy(value)) return undefined
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || typeof prototype !== 'object') return undefined
  const made: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
  return typeof made === 'function' && made.name !== '' ? made.name : undefined
}

/** How many entries, items or bytes it has, where it says so. */
function sizeOf(value: unknown): number | undefined {
  if (types.isProxy(value)) return undefined
  if (Array.isArray(value)) return value.length
  if (types.isMap(value) || types.isSet(value)) return value.size
  if (types.isTypedArray(value)) return value.length
  if (types.isAnyArrayBuffer(value)) return value.byteLength
  return undefined
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}…`
}
