import { canonicalOrNone } from '../world/canonical.ts'
import type { ExtraFields } from '../protocol/message.ts'
import { isObject } from './wire-values.ts'

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
export function unknownFields(said: Fields, known: ReadonlySet<string>): Fields {
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

/** A piece continues the item of its `index`; without one, the last item of its type that is not signed yet. */
function addItems(items: unknown[], more: readonly unknown[], levels: number): void {
  for (const piece of more) {
    const first = Math.max(0, items.length - maxSearchedItems)
    let at = items.length - 1
    while (at >= first && !continues(items[at], piece, at === items.length - 1)) at--
    if (at < first) items.push(piece)
    else addFields(items[at] as Record<string, unknown>, piece as Fields, levels - 1)
  }
}

function continues(item: unknown, piece: unknown, isLast: boolean): boolean {
  if (!isObject(item) || !isObject(piece)) return false
  const [begun, more] = [item as Fields, piece as Fields]
  if (begun['type'] !== more['type']) return false
  if (more['index'] !== undefined) return begun['index'] === more['index']
  if (!isLast || begun['index'] !== undefined || typeof more['type'] !== 'string') return false
  const isSealed = Boolean(begun['signature']) || Boolean(begun['data'])
  return !isSealed && (more['id'] === undefined || begun['id'] === more['id'])
}

/** As a block or message keeps them. Absent: none, or none that a World can hold. */
export function extraOf(provider: string, fields: Fields): { readonly extra?: ExtraFields } {
  if (Object.keys(fields).length === 0) return {}
  const kept = canonicalOrNone(fields, outerLevels)
  return kept === undefined ? {} : { extra: { provider, fields: kept as ExtraFields['fields'] } }
}
