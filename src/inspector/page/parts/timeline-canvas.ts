import type { SpanKind } from '../../reading/spans.ts'
import { type Bar, firstFrom, laneHeight, laneTop, rowAt, type TimelineRow } from '../data/timeline-rows.ts'

export interface Drawing {
  readonly rows: readonly TimelineRow[]
  /** What lies at the left and right edge. */
  readonly from: number
  readonly to: number
  /** Bars that go on are drawn up to it. */
  readonly now: number
  /** Of the canvas, within the rows. */
  readonly top: number
  readonly width: number
  readonly height: number
  readonly grid: readonly number[]
  readonly selected: Bar | undefined
  readonly colours: Colours
}

export interface Colours {
  readonly line: string
  readonly text: string
  readonly surface: string
  readonly accent: string
  readonly failed: string
  readonly life: string
  readonly kinds: Readonly<Record<SpanKind, string>>
}

const tokens: Readonly<Record<SpanKind, string>> = {
  model: '--state-model',
  tool: '--state-tool',
  approval: '--state-approval',
  retry: '--state-retry',
  session: '--state-sessions',
  slot: '--state-sessions',
  wait: '--state-idle',
  paused: '--state-retry',
  other: '--state-idle',
}
/** Time in which nothing is done is drawn faintly. */
const faint: ReadonlySet<SpanKind> = new Set(['retry', 'slot', 'wait', 'paused', 'other', 'session'])
const barHeight = laneHeight - 3
const minLabelPx = 34

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element)
  const token = (name: string) => style.getPropertyValue(name).trim()
  return {
    line: token('--line'),
    text: token('--text'),
    surface: token('--surface'),
    accent: token('--accent'),
    failed: token('--state-failed'),
    life: token('--state-sessions'),
    kinds: Object.fromEntries(Object.entries(tokens).map(([kind, name]) => [kind, token(name)])) as Colours['kinds'],
  }
}

/** Draws the rows that lie within a canvas. Of bars that fall on the same pixel one is drawn. */
export function draw(canvas: HTMLCanvasElement, drawing: Drawing): void {
  const { colours, from, grid, height, rows, to, top, width } = drawing
  const scale = devicePixelRatio
  if (canvas.width !== width * scale) canvas.width = width * scale
  if (canvas.height !== height * scale) canvas.height = height * scale
  const context = canvas.getContext('2d')
  if (context === null || width === 0) return
  context.setTransform(scale, 0, 0, scale, 0, 0)
  context.clearRect(0, 0, width, height)
  context.font = '11px ' + (getComputedStyle(canvas).fontFamily || 'sans-serif')
  context.textBaseline = 'middle'
  const perMs = width / (to - from)
  context.fillStyle = colours.line
  for (const at of grid) context.fillRect(Math.round((at - from) * perMs), 0, 1, height)
  for (let index = rowAt(rows, top); index < rows.length; index++) {
    const row = rows[index] as TimelineRow
    if (row.top > top + height) break
    context.fillStyle = colours.line
    context.fillRect(0, row.top - top + row.height - 1, width, 1)
    drawLife(context, row, drawing, perMs)
    row.lanes.forEach((lane, at) => drawLane(context, lane, row.top - top + laneTop(row, at) + 1, drawing, perMs))
  }
}

function drawLife(context: CanvasRenderingContext2D, row: TimelineRow, drawing: Drawing, perMs: number): void {
  const { colours, from, now, top, width } = drawing
  if (row.life === undefined) return
  const x = Math.max(0, (row.life.from - from) * perMs)
  const end = Math.min(width, (Math.min(row.life.to, now) - from) * perMs)
  if (end <= x) return
  context.globalAlpha = 0.07
  context.fillStyle = row.life.isFailed ? colours.failed : colours.life
  context.fillRect(x, row.top - top, end - x, row.height - 1)
  context.globalAlpha = 1
}

function drawLane(
  context: CanvasRenderingContext2D,
  lane: readonly Bar[],
  y: number,
  drawing: Drawing,
  perMs: number,
): void {
  const { from, now, selected, to, width } = drawing
  let drawn = -1
  for (let index = firstFrom(lane, from); index < lane.length; index++) {
    const bar = lane[index] as Bar
    if (bar.from > to) return
    const x = (bar.from - from) * perMs
    const end = Math.max(x + 1.5, (Math.min(bar.to, now) - from) * perMs - 0.5)
    const isSelected = selected?.span === bar.span
    if (end <= drawn && !isSelected) continue
    drawBar(context, bar, { x: Math.max(-4, x), end: Math.min(width + 4, end), y, isSelected }, drawing)
    drawn = end
  }
}

function drawBar(
  context: CanvasRenderingContext2D,
  { count, span, to }: Bar,
  at: { readonly x: number; readonly end: number; readonly y: number; readonly isSelected: boolean },
  { colours }: Drawing,
): void {
  const { end, isSelected, x, y } = at
  const isFaint = faint.has(span.kind)
  const colour = span.isFailed === true ? colours.failed : colours.kinds[span.kind]
  const width = end - x
  context.fillStyle = colour
  context.globalAlpha = isFaint ? 0.2 : 0.9
  if (width < 4) context.fillRect(x, y, width, barHeight)
  else {
    context.beginPath()
    context.roundRect(x, y, width, barHeight, to === Infinity ? [3, 0, 0, 3] : 3)
    context.fill()
  }
  context.globalAlpha = 1
  if (isSelected) {
    context.strokeStyle = colours.text
    context.lineWidth = 1.5
    context.strokeRect(x - 1.5, y - 1.5, width + 3, barHeight + 3)
  }
  if (width < minLabelPx) return
  context.save()
  context.beginPath()
  context.rect(x, y, width - 5, barHeight)
  context.clip()
  context.fillStyle = isFaint ? colours.text : colours.surface
  context.fillText(
    count > 1 ? `${span.name} and ${count - 1} more` : span.name,
    Math.max(x, 0) + 5,
    y + barHeight / 2 + 0.5,
  )
  context.restore()
}
