import { oneLine } from '../../base/one-line.ts'
import type { Json } from '../../base/json.ts'
import { cutText, wholeEnd } from '../../base/cut-text.ts'
import { counted, isList, isScalar, shapeOf } from './shape-of.ts'
import { summaryOf } from './summary-of.ts'

/** What `read_handle` can show of a value. */
export const handleOperations = ['str', 'head', 'summary', 'print'] as const
export type HandleOperation = (typeof handleOperations)[number]

export interface Page {
  /** Lines or elements to pass over. @default 0 */
  readonly offset?: number | undefined
  /** Most lines or elements. @default 20 of `head`, 200 of `print` */
  readonly limit?: number | undefined
}

const headCount = 20
const printCount = 200
/** A longer line counts as several. */
const maxLineChars = 2_000
/** Room of one page: with its note it fits into a result. */
const maxPageChars = 49_500

/** A value as `read_handle` shows it, or what is wrong with the page. */
export function readValue(value: Json, operation: HandleOperation, page: Page): string | { readonly problem: string } {
  if (operation === 'str') return structureOf(value)
  if (operation === 'summary') return summaryOf(value)
  const { items, unit } = itemsOf(value)
  const { offset = 0, limit = operation === 'head' ? headCount : printCount } = page
  if (offset > 0 && offset >= items.length) {
    return { problem: `offset ${offset} is past the end: the value has ${counted(items.length, unit)}.` }
  }
  const shown = pageOf(items.slice(offset, offset + limit), operation === 'head' ? maxLineChars : maxPageChars)
  const end = offset + shown.length
  if (offset === 0 && end === items.length) return shown.join('\n')
  const note = `${unit}s ${offset + 1}-${end} of ${items.length}`
  const rest = end < items.length ? `; read on with op=print, offset=${end}` : ''
  return [...shown, `[${note}${rest}]`].join('\n')
}

/** The shape of a value, and of its first entries. */
function structureOf(value: Json): string {
  if (isScalar(value)) return shapeOf(value)
  const entries: readonly (readonly [name: string, item: Json | undefined])[] = isList(value)
    ? value.slice(0, headCount).map((item, index) => [`[${index}]`, item])
    : Object.entries(value).slice(0, headCount)
  const rest = (isList(value) ? value.length : Object.keys(value).length) - entries.length
  const lines = entries.map(
    ([name, item]) => `  ${oneLine(cutText(name, maxNameChars, '…'))}: ${shapeOf(item ?? null)}`,
  )
  return [shapeOf(value), ...lines, ...(rest > 0 ? [`  … and ${rest} more`] : [])].join('\n')
}

const maxNameChars = 200

/** A value in pieces of one line: the lines of a text, the elements of a list, the entries of an object. */
function itemsOf(value: Json): { readonly items: readonly string[]; readonly unit: 'element' | 'line' } {
  if (typeof value === 'string') return { items: linesOf(value), unit: 'line' }
  if (isScalar(value)) return { items: [JSON.stringify(value)], unit: 'element' }
  if (isList(value)) return { items: value.map((item) => JSON.stringify(item)), unit: 'element' }
  const items = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${JSON.stringify(item)}`)
  return { items, unit: 'element' }
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.flatMap((line) => (line.length <= maxLineChars ? [line] : folded(line)))
}

function folded(line: string): readonly string[] {
  const parts: string[] = []
  for (let at = 0; at < line.length;) {
    const end = at + maxLineChars >= line.length ? line.length : wholeEnd(line, at + maxLineChars)
    parts.push(line.slice(at, end))
    at = end
  }
  return parts
}

/** As many items as a page has room for, at least one. An item that is longer than a page is cut. */
function pageOf(items: readonly string[], maxItemChars: number): readonly string[] {
  const shown: string[] = []
  let room = maxPageChars
  for (const item of items) {
    const line = item.length <= maxItemChars ? item : cutItem(item, maxItemChars)
    if (shown.length > 0 && line.length + 1 > room) break
    shown.push(line)
    room -= line.length + 1
  }
  return shown
}

function cutItem(item: string, maxChars: number): string {
  const shown = cutText(item, maxChars)
  return `${shown} [${item.length - shown.length} characters left out]`
}
