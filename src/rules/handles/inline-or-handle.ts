import type { Json } from '../../base/json.ts'
import { isList, isScalar } from './shape-of.ts'

const maxInlineBytes = 10_000
const maxInlineScalars = 50
const maxInlineEntries = 10

/**
 * Whether a model reads a value of a tool itself, or its shape and the name of a handle that has it: a list of over 50 scalars,
 * a list or object of over 10 entries that are not all scalars, and what is over 10,000 bytes as JSON, go to a handle. Scalars stay.
 * @param json the value as compact JSON, if it is known
 */
export function inlineOrHandle(value: Json, json?: string): 'handle' | 'inline' {
  if (isScalar(value)) return 'inline'
  const items = isList(value) ? value : Object.values(value).map((item) => item ?? null)
  const isFlat = items.every(isScalar)
  if (isFlat ? isList(value) && items.length > maxInlineScalars : items.length > maxInlineEntries) return 'handle'
  return Buffer.byteLength(json ?? JSON.stringify(value)) > maxInlineBytes ? 'handle' : 'inline'
}

/** What a model reads of a value that went to a handle. */
export function storedText(shape: string, handle: string): string {
  return `${shape}\n[stored as ${handle}]`
}
