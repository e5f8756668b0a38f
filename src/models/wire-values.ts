import { inspect } from '../base/inspect.ts'

/** These read values of any server without trusting their types. */

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? (value as Readonly<Record<string, unknown>>) : {}
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function objectsIn(value: unknown): readonly object[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isObject) : []
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An error and what it wraps, outermost first: SDKs and fetch wrap errors in several layers. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let cause = error; cause instanceof Error && causes.length < 6; cause = cause.cause) causes.push(cause)
  return causes
}

/** JSON with infinite numbers as text. What nests too deep is shown shortened, and is not JSON. */
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

/** A lone surrogate as `JSON.stringify` writes it. */
const halfPair = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

/** Replaces lone surrogates in JSON by U+FFFD, in texts and keys. */
export function wellFormedJson(json: string): string {
  return json.includes('\\ud') ? json.replaceAll(halfPair, '$1\ufffd') : json
}
