import { inspect } from '../world/inspect.ts'

/** What stands in a wire form is of the type it should be only if the server is sound: these read it as it comes. */

/** The fields of an object; none of anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? (value as Readonly<Record<string, unknown>>) : {}
}

/** A text; the empty one for anything else. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The items of a list that are objects; none of anything else. */
export function objectsIn(value: unknown): readonly object[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isObject) : []
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value as JSON, numbers beyond all bounds as text. What nests too deep for that is shown as far as it can be, and is no JSON. */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value, withoutInfinity) ?? String(value)
  } catch {
    return inspect(value, { depth: 4, breakLength: Infinity })
  }
}

function withoutInfinity(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

/** Half a surrogate pair in JSON, as `JSON.stringify` writes it: a whole one stands there as it is. */
const halfPair = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

/** JSON with U+FFFD for each half of a surrogate pair, in texts and keys alike. */
export function wellFormedJson(json: string): string {
  return json.includes('\\ud') ? json.replaceAll(halfPair, '$1\ufffd') : json
}
