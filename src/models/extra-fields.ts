import { canonicalOrNone } from '../world/canonical.ts'
import type { ExtraFields } from '../protocol/message.ts'
import { isObject, writeJson } from './wire-values.ts'

/** Fields of any server, of which nothing is trusted. */
export type Fields = Readonly<Record<string, unknown>>

/** Nesting levels above the fields where they are stored. */
const outerLevels = 16
/** Deeper objects of a piece replace those before. */
const maxMergedLevels = 8
/** Items further from the end are not continued. */
const maxSearchedItems = 64
/** Texts that a stream sends in pieces; others, such as a format or an id, are whole in each piece. */
const piecewise = /(^|_)(text|summary|thinking|content|reasoning|arguments)$/
/** Sent in pieces by some servers, and repeated as a whole by others. */
const repeatable = /(^|_)(signature|data)$/

/** Fields that are not known and not empty. */
export function unknownFields(said: Fields, known: ReadonlySet<string>): Record<string, unknown> {
  const unknown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(said)) {
    if (!known.has(name) && !isNothing(value)) unknown[name] = value
  }
  return unknown
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** Adds a piece that a stream sends of unknown fields to those before. Both are changed. */
export function addFields(fields: Record<string, unknown>, more: Fields, levels = maxMergedLevels): void {
  for (const [name, value] of Object.entries(more)) fields[name] = mergedValue(name, fields[name], value, levels)
}

function mergedValue(name: string, before: unknown, more: unknown, levels: number): unknown {
  if (before === undefined || before === null || levels === 0) return more
  if (more === null) return before
  if (typeof before === 'string' && typeof more === 'string') {
    if (piecewise.test(name)) return before + more
    if (repeatable.test(name)) return before === more ? before : before + more
    return more
  }
  if (Array.isArray(before) && Array.isArray(more)) addItems(before, more, levels)
  else if (isObject(before) && isObject(more)) addFields(before as Record<string, unknown>, more as Fields, levels - 1)
  else return more
  return before
}

/**
 * A piece continues the item of its `index`; without one, the first piece of a list continues the last item, if that is of its
 * type and not signed yet. A list that begins with all items repeats them.
 */
function addItems(items: unknown[], more: readonly unknown[], levels: number): void {
  const last = items.length - 1
  if (!continues(items[last], more[0], true) && repeats(more, items)) {
    items.push(...more.slice(items.length))
    return
  }
  for (const [place, piece] of more.entries()) {
    const first = Math.max(0, items.length - maxSearchedItems)
    let at = items.length - 1
    while (at >= first && !continues(items[at], piece, place === 0 && at === last)) at--
    if (at < first) items.push(piece)
    else addFields(items[at] as Record<string, unknown>, piece as Fields, levels - 1)
  }
}

/** Numbers are never repeated: each has its own place. */
function repeats(more: readonly unknown[], items: readonly unknown[]): boolean {
  return more.length >= items.length && items.every((item, at) => typeof item !== 'number' && isSame(item, more[at]))
}

/** @param isNext whether the piece follows the item directly */
export function continues(item: unknown, piece: unknown, isNext: boolean): boolean {
  if (!isObject(item) || !isObject(piece)) return false
  const [begun, more] = [item as Fields, piece as Fields]
  if (begun['type'] !== more['type']) return false
  if (more['index'] !== undefined) return begun['index'] === more['index']
  if (!isNext || begun['index'] !== undefined || typeof more['type'] !== 'string') return false
  const isSealed = Boolean(begun['signature']) || Boolean(begun['data'])
  if (isSealed || (more['id'] !== undefined && begun['id'] !== more['id'])) return false
  return Object.entries(more).every(([name, value]) => isAddable(name, begun[name], value))
}

/** Nothing that was said would be replaced. */
function isAddable(name: string, before: unknown, more: unknown): boolean {
  if (before === undefined || before === null || more === null || isSame(before, more)) return true
  if (typeof before === 'string' && typeof more === 'string') return piecewise.test(name) || repeatable.test(name)
  if (Array.isArray(before) || Array.isArray(more)) return Array.isArray(before) && Array.isArray(more)
  if (!isObject(before) || !isObject(more)) return false
  return Object.entries(more).every(([inner, value]) => isAddable(inner, (before as Fields)[inner], value))
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || (isObject(one) && isObject(other) && writeJson(one) === writeJson(other))
}

/** As a block or message keeps them. Absent: none, or none that a World can hold. */
export function extraOf(provider: string, fields: Fields): { readonly extra?: ExtraFields } {
  if (Object.keys(fields).length === 0) return {}
  const kept = canonicalOrNone(fields, outerLevels)
  return kept === undefined ? {} : { extra: { provider, fields: kept as ExtraFields['fields'] } }
}
