import { oneLine } from '../../base/one-line.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { cutText } from '../../base/cut-text.ts'
import { counted, isList, isScalar, kindOf, lineCount, shapeOf } from './shape-of.ts'

const maxColumns = 50
const maxNameChars = 100

/** Counts, extremes and columns of a value, without its content. */
export function summaryOf(value: Json): string {
  if (typeof value === 'string') return textSummary(value)
  if (isScalar(value)) return shapeOf(value)
  if (!isList(value))
    return `object of ${counted(Object.keys(value).length, 'entry')}: ${partsOf(Object.values(value))}`
  if (value.length === 0) return shapeOf(value)
  switch (kindOf(value)) {
    case 'table':
      return tableSummary(value as readonly JsonObject[])
    case 'matrix':
      return `${shapeOf(value)}: ${partsOf((value as readonly Json[][]).flat())}`
    default:
      return `list of ${counted(value.length, 'element')}: ${partsOf(value)}`
  }
}

function textSummary(text: string): string {
  const longest = text.split('\n').reduce((chars, line) => (line.length > chars ? line.length : chars), 0)
  const parts = [
    counted(lineCount(text), 'line'),
    counted(text.length, 'character'),
    counted(Buffer.byteLength(text), 'byte'),
  ]
  return `text: ${parts.join(', ')}; longest line: ${counted(longest, 'character')}`
}

function tableSummary(rows: readonly JsonObject[]): string {
  const columns = new Map<string, Json[]>()
  for (const row of rows) {
    for (const [name, item] of Object.entries(row)) {
      const cells = columns.get(name)
      if (cells === undefined) columns.set(name, [item ?? null])
      else cells.push(item ?? null)
    }
  }
  const lines = [...columns].slice(0, maxColumns).map(([name, cells]) => {
    const missing = rows.length - cells.length
    return `  ${oneLine(cutText(name, maxNameChars, '…'))}: ${partsOf(cells)}${missing > 0 ? `; ${missing} missing` : ''}`
  })
  const rest = columns.size - lines.length
  const head = `table of ${counted(rows.length, 'row')} and ${counted(columns.size, 'column')}`
  return [head, ...lines, ...(rest > 0 ? [`  … and ${counted(rest, 'more column')}`] : [])].join('\n')
}

/** How many values there are of each kind, with extremes of numbers and of texts. */
function partsOf(values: readonly (Json | undefined)[]): string {
  const byKind = new Map<string, Json[]>()
  for (const value of values) {
    const kind = kindOf(value ?? null)
    const alike = byKind.get(kind)
    if (alike === undefined) byKind.set(kind, [value ?? null])
    else alike.push(value ?? null)
  }
  return [...byKind].map(([kind, alike]) => `${counted(alike.length, kind)}${detailsOf(alike)}`).join('; ')
}

function detailsOf(alike: readonly Json[]): string {
  const [first] = alike
  if (typeof first === 'number') {
    const [min, max] = extremes(alike as readonly number[])
    return ` (min ${min}, max ${max})`
  }
  if (typeof first === 'boolean') return ` (${alike.filter((each) => each === true).length} true)`
  if (typeof first !== 'string') return ''
  const [min, max] = extremes((alike as readonly string[]).map((text) => text.length))
  return ` (${new Set(alike).size} distinct, ${min} to ${max} characters)`
}

function extremes(numbers: readonly number[]): readonly [min: number, max: number] {
  let [min, max] = [Infinity, -Infinity]
  for (const number of numbers) {
    if (number < min) min = number
    if (number > max) max = number
  }
  return [min, max]
}
