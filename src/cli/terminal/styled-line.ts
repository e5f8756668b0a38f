import type { styleText } from 'node:util'
import { cutToWidth, textWidth } from './text-width.ts'

export type Style = Parameters<typeof styleText>[0]

/** A text of one look. */
export interface Span {
  readonly text: string
  readonly style?: Style | undefined
}

/** One line of several looks. */
export type StyledLine = readonly Span[]

/** How many columns it takes. */
export function lineWidth(line: StyledLine): number {
  return line.reduce((width, { text }) => width + textWidth(text), 0)
}

/** The line in at most so many columns, with `…` where it was cut. */
export function cutLine(line: StyledLine, columns: number): StyledLine {
  if (lineWidth(line) <= columns) return line
  const cut: Span[] = []
  let room = columns
  for (const span of line) {
    const width = textWidth(span.text)
    // One column is kept for the sign that more was there.
    if (width < room) cut.push(span)
    else {
      cut.push({ ...span, text: width === room ? cutToWidth(`${span.text}…`, room) : cutToWidth(span.text, room) })
      return cut
    }
    room -= width
  }
  return cut
}
