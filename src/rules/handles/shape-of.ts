import { oneLine } from '../../base/one-line.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { ValueKind } from '../../protocol/handle.ts'
import { cutText } from '../../base/cut-text.ts'

/** Longest shape, in characters. */
export const maxShapeChars = 300
const maxTextChars = 60
const maxNameChars = 40
/** Most entries that a shape names. */
const maxNamed = 8
/** Most rows that the columns of a table are taken from. */
const maxRows = 100

export function kindOf(value: Json): ValueKind {
  if (value === null) return 'null'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  if (!isList(value)) return 'object'
  if (value.length === 0) return 'list'
  if (value.every((row) => kindOf(row) === 'object')) return 'table'
  return isMatrix(value) ? 'matrix' : 'list'
}

export function isScalar(value: Json): value is boolean | null | number | string {
  return typeof value !== 'object' || value === null
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** What a value is, how large, and how it begins, in one line of at most 300 characters. Equal values have equal shapes. */
export function shapeOf(value: Json): string {
  return cutText(oneLine(shape(value)), maxShapeChars, '…')
}

function shape(value: Json): string {
  if (typeof value === 'string') return textShape(value)
  if (isScalar(value)) return value === null ? 'null' : `${kindOf(value)} ${String(value)}`
  if (!isList(value)) return objectShape(value)
  if (value.length === 0) return 'empty list'
  switch (kindOf(value)) {
    case 'table':
      return `table of ${counted(value.length, 'row')}: ${named(columnsOf(value as readonly JsonObject[]))}`
    case 'matrix':
      return `matrix of ${counted(value.length, 'row')} and ${counted(isList(value[0] ?? null) ? (value[0] as Json[]).length : 0, 'column')}`
    default:
      return listShape(value)
  }
}

function textShape(text: string): string {
  if (text.length <= maxTextChars && !/[\r\n]/.test(text)) return `text ${JSON.stringify(text)}`
  const begin = JSON.stringify(cutText(text, maxTextChars))
  return `text of ${counted(text.length, 'character')} in ${counted(lineCount(text), 'line')}: ${begin}…`
}

function listShape(items: readonly Json[]): string {
  const kinds = countedKinds(items)
  const [only] = kinds.keys()
  const what = kinds.size === 1 && only !== undefined ? plural(only, items.length) : plural('entry', items.length)
  const head = `list of ${items.length} ${what}`
  if (!items.every(isScalar)) return kinds.size === 1 ? head : `${head} (${kindCounts(kinds)})`
  const first = items.slice(0, maxNamed).map(scalarText)
  return `${head}: ${first.join(', ')}${items.length > maxNamed ? ', …' : ''}`
}

function objectShape(value: JsonObject): string {
  const entries = Object.entries(value)
  if (entries.length === 0) return 'empty object'
  return `object of ${counted(entries.length, 'entry')}: ${named(entries.map(([name, item]) => [name, brief(item ?? null)]))}`
}

/** The kinds of each column of a table, in order of their first row. */
function columnsOf(rows: readonly JsonObject[]): readonly (readonly [name: string, kinds: string])[] {
  const columns = new Map<string, Set<string>>()
  for (const row of rows.slice(0, maxRows)) {
    for (const [name, item] of Object.entries(row)) {
      const kinds = columns.get(name) ?? new Set()
      kinds.add(kindOf(item ?? null))
      columns.set(name, kinds)
    }
  }
  return [...columns].map(([name, kinds]) => [name, [...kinds].join('|')])
}

function named(entries: readonly (readonly [name: string, what: string])[]): string {
  const first = entries.slice(0, maxNamed).map(([name, what]) => `${cutText(name, maxNameChars, '…')} ${what}`)
  const rest = entries.length - first.length
  return first.join(', ') + (rest > 0 ? `, and ${rest} more` : '')
}

/** A value inside another. */
function brief(value: Json): string {
  if (isList(value)) return `${kindOf(value)} of ${value.length}`
  if (typeof value === 'object' && value !== null) return `object of ${Object.keys(value).length}`
  return kindOf(value)
}

function countedKinds(items: readonly Json[]): ReadonlyMap<ValueKind, number> {
  const kinds = new Map<ValueKind, number>()
  for (const item of items) kinds.set(kindOf(item), (kinds.get(kindOf(item)) ?? 0) + 1)
  return kinds
}

function kindCounts(kinds: ReadonlyMap<ValueKind, number>): string {
  return [...kinds].map(([kind, count]) => `${count} ${plural(kind, count)}`).join(', ')
}

function scalarText(value: Json): string {
  return typeof value === 'string' ? JSON.stringify(cutText(value, maxNameChars, '…')) : JSON.stringify(value)
}

function isMatrix(rows: readonly Json[]): boolean {
  const [first] = rows
  const isRow = (row: Json): boolean =>
    isList(row) &&
    isList(first ?? null) &&
    row.length === (first as Json[]).length &&
    row.every((cell) => typeof cell === 'number')
  return rows.every(isRow)
}

/** An empty text has no line; a final line break begins none. */
export function lineCount(text: string): number {
  if (text === '') return 0
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < text.length - 1; at = text.indexOf('\n', at + 1)) count++
  return count
}

export function counted(count: number, noun: string): string {
  return `${count} ${plural(noun, count)}`
}

function plural(noun: string, count: number): string {
  if (count === 1 || noun === 'null') return noun
  if (noun === 'matrix') return 'matrices'
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
}
