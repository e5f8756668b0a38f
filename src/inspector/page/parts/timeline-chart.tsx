import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { axisText, gridOf, type Range } from '../data/timeline-range.ts'
import { type Bar, firstFrom, laneHeight, laneTop, rowAt, type TimelineRow } from '../data/timeline-rows.ts'
import { durationText } from '../data/words.ts'
import { type Colours, coloursOf, draw } from './timeline-canvas.ts'

export interface TimelineChartProps {
  readonly rows: readonly TimelineRow[]
  /** Of all rows. */
  readonly height: number
  readonly range: Range
  readonly now: number
  /** Where the tick that is shown lies. */
  readonly cursor: number | undefined
  readonly world: string | undefined
  /** What is chosen. */
  readonly row: TimelineRow | undefined
  readonly bar: Bar | undefined
  readonly onSeen: (rows: readonly TimelineRow[]) => void
  readonly onFold: (row: TimelineRow, isOpen: boolean) => void
  readonly onZoom: (factor: number, at?: number) => void
  /** By a share of what is shown. */
  readonly onPan: (share: number) => void
  readonly onWhole: () => void
  readonly onChoose: (row: TimelineRow, bar: Bar) => void
  readonly onOpen: (row: TimelineRow, tick: number) => void
  /** An instant of a row was clicked at which there is no bar. */
  readonly onInstant: (row: TimelineRow, at: number) => void
}

/** Drawn beyond what is seen above and below, so that scrolling draws only now and then. */
const beyondPx = 400
/** A pointer that moves less is a click. */
const dragPx = 4

/** Rows of bars: names are elements, bars are drawn. Only what is seen is in the page. */
export function TimelineChart(props: TimelineChartProps) {
  const { bar, cursor, height, now, onSeen, range, row, rows, world } = props
  const body = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [seen, setSeen] = useState({ top: 0, height: 600, width: 800 })
  const [hover, setHover] = useState<
    { readonly x: number; readonly y: number; readonly row: TimelineRow; readonly bar: Bar } | undefined
  >(undefined)
  const colours = useColours(canvas)
  useLayoutEffect(() => {
    const element = body.current
    const lane = canvas.current
    if (element === null || lane === null) return undefined
    const look = () => setSeen({ top: quiet(element.scrollTop), height: element.clientHeight, width: lane.clientWidth })
    const watch = new ResizeObserver(look)
    watch.observe(element)
    watch.observe(lane)
    look()
    return () => watch.disconnect()
  }, [])
  const top = Math.max(0, seen.top - beyondPx)
  const drawnHeight = Math.min(height - top, seen.height + 2 * beyondPx + quietPx)
  const grid = gridOf(range, seen.width / 110)
  const perMs = seen.width / (range.to - range.from)
  useEffect(() => {
    const element = canvas.current
    if (element === null || colours === undefined) return undefined
    const frame = requestAnimationFrame(() => {
      draw(element, {
        rows,
        ...range,
        now,
        top,
        width: seen.width,
        height: Math.max(0, drawnHeight),
        grid,
        selected: bar,
        colours,
      })
    })
    return () => cancelAnimationFrame(frame)
  })
  const first = rowAt(rows, top)
  const last = rows.length === 0 ? 0 : rowAt(rows, top + drawnHeight) + 1
  const shown = rows.slice(first, last)
  useEffect(() => onSeen(shown), [first, last, rows])
  const at = row === undefined ? -1 : rows.indexOf(row)
  useEffect(() => reveal(body.current, row), [row?.world])
  usePointer(body, canvas, { ...props, hover: setHover })
  return (
    <div class="chart">
      <Axis grid={grid} range={range} perMs={perMs} cursor={cursor} />
      <div
        ref={body}
        class="chart-body"
        role="application"
        aria-roledescription="timeline"
        aria-label="Bars of all worlds. Arrows go from bar to bar and from row to row, Enter goes to the tick, plus and minus zoom, f shows all."
        tabIndex={0}
        onScroll={({ currentTarget }) => {
          const next = quiet(currentTarget.scrollTop)
          if (next !== seen.top) setSeen({ ...seen, top: next })
        }}
        onKeyDown={(event) => {
          if (!keyPressed(event, props, at)) return
          event.preventDefault()
          event.stopPropagation()
        }}
      >
        <div class="chart-all" style={{ height: `${height}px` }}>
          <div class="chart-names">
            {shown.map((one) => (
              <Name
                key={one.world}
                row={one}
                isShown={one.world === world}
                onFold={props.onFold}
                onOpen={() => props.onInstant(one, Infinity)}
              />
            ))}
          </div>
          <div class="chart-lanes">
            <canvas
              ref={canvas}
              aria-hidden="true"
              style={{ top: `${top}px`, height: `${Math.max(0, drawnHeight)}px` }}
            />
            {cursor !== undefined && cursor >= range.from && cursor <= range.to && (
              <i class="cursor" style={{ left: `${(cursor - range.from) * perMs}px` }} />
            )}
          </div>
        </div>
      </div>
      {hover !== undefined && (
        <div
          class="hint"
          style={{ left: `${hover.x}px`, top: `${hover.y}px` }}
          data-state={hover.bar.span.isFailed === true ? 'failed' : hover.bar.span.kind}
          aria-hidden="true"
        >
          <i class="swatch" />
          <b class="clip">{hover.bar.span.name}</b>
          <span class="muted">
            {hover.bar.to === Infinity ? 'goes on' : durationText(hover.bar.to - hover.bar.from)}
          </span>
        </div>
      )}
    </div>
  )
}

function Axis(
  props: Pick<TimelineChartProps, 'cursor' | 'range'> & { readonly grid: readonly number[]; readonly perMs: number },
) {
  const { cursor, grid, perMs, range } = props
  return (
    <div class="axis" aria-hidden="true">
      <span class="axis-name muted">World time</span>
      <div class="axis-lane">
        {grid.map((instant) => (
          <span
            key={instant}
            data-edge={(range.to - instant) * perMs < minLabelPx}
            style={{ left: `${(instant - range.from) * perMs}px` }}
          >
            {axisText(instant, (grid[1] ?? instant + 1) - (grid[0] ?? instant))}
          </span>
        ))}
        {cursor !== undefined && cursor >= range.from && cursor <= range.to && (
          <i class="cursor-head" style={{ left: `${(cursor - range.from) * perMs}px` }} />
        )}
      </div>
    </div>
  )
}

/** Of a label of the axis: where there is less room it is left out. */
const minLabelPx = 44

/** The page draws again only when it was scrolled so far. */
const quietPx = 200

function quiet(top: number): number {
  return Math.floor(top / quietPx) * quietPx
}

function Name(props: {
  readonly row: TimelineRow
  readonly isShown: boolean
  readonly onFold: TimelineChartProps['onFold']
  readonly onOpen: () => void
}) {
  const { isShown, onFold, onOpen, row } = props
  return (
    <div
      class="chart-name"
      data-shown={isShown}
      style={{ top: `${row.top}px`, height: `${row.height}px`, paddingLeft: `${12 + row.level * 14}px` }}
      title={row.known?.problem?.message ?? row.world}
    >
      {row.children > 0 ? (
        <button
          type="button"
          class="fold"
          tabIndex={-1}
          aria-label={`${row.isFolded ? 'Open' : 'Close'} ${row.title}`}
          aria-expanded={!row.isFolded}
          onClick={() => onFold(row, row.isFolded)}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="m6 4 4 4-4 4" />
          </svg>
        </button>
      ) : (
        <span class="fold" />
      )}
      <button type="button" class="clip" tabIndex={-1} aria-current={isShown ? 'true' : undefined} onClick={onOpen}>
        {row.title}
        {row.life?.task !== undefined && <small class="clip">{row.life.task}</small>}
      </button>
      {row.known === undefined && <span class="muted">…</span>}
      {row.known?.problem !== undefined && <span class="bad">unreadable</span>}
    </div>
  )
}

/** Scrolls to a row that is not seen. */
function reveal(element: HTMLElement | null, row: TimelineRow | undefined): void {
  if (element === null || row === undefined) return
  if (row.top < element.scrollTop) element.scrollTop = row.top
  else if (row.top + row.height > element.scrollTop + element.clientHeight)
    element.scrollTop = row.top + row.height - element.clientHeight
}

/** Read again when light and dark change. */
function useColours(canvas: { readonly current: HTMLCanvasElement | null }): Colours | undefined {
  const [colours, setColours] = useState<Colours | undefined>(undefined)
  useEffect(() => {
    const look = () => canvas.current !== null && setColours(coloursOf(canvas.current))
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const theme = new MutationObserver(look)
    theme.observe(document.documentElement, { attributes: true })
    scheme.addEventListener('change', look)
    look()
    return () => {
      theme.disconnect()
      scheme.removeEventListener('change', look)
    }
  }, [])
  return colours
}

function keyPressed(event: KeyboardEvent, props: TimelineChartProps, at: number): boolean {
  const { bar, onChoose, onFold, onOpen, onPan, onWhole, onZoom, rows } = props
  const { ctrlKey, key, metaKey, shiftKey } = event
  if (ctrlKey || metaKey) return false
  const row = rows[at]
  const index = row === undefined || bar === undefined ? -1 : row.bars.indexOf(bar)
  const to = (of: TimelineRow | undefined, one: Bar | undefined) =>
    of !== undefined && one !== undefined && onChoose(of, one)
  if (key === '+' || key === '=') onZoom(1.6)
  else if (key === '-') onZoom(1 / 1.6)
  else if (key === 'f') onWhole()
  else if (shiftKey && key === 'ArrowLeft') onPan(-0.25)
  else if (shiftKey && key === 'ArrowRight') onPan(0.25)
  else if (key === 'ArrowRight') to(row, row?.bars[Math.min(index + 1, row.bars.length - 1)])
  else if (key === 'ArrowLeft') to(row, row?.bars[Math.max(index - 1, 0)])
  else if (key === 'Home') to(row, row?.bars[0])
  else if (key === 'End') to(row, row?.bars.at(-1))
  else if (key === 'ArrowDown' || key === 'ArrowUp') toRow(key === 'ArrowDown' ? 1 : -1, at, props)
  else if (key === 'Enter' && row !== undefined && bar !== undefined) {
    onOpen(row, shiftKey ? (bar.span.endTick ?? bar.span.tick) : bar.span.tick)
  } else if (key === '.' && row !== undefined) onFold(row, row.isFolded)
  else return false
  return true
}

/** The next row that has a bar, and its bar at about the same time. */
function toRow(step: number, at: number, { bar, onChoose, rows }: TimelineChartProps): void {
  for (let index = at + step; index >= 0 && index < rows.length; index += step) {
    const row = rows[index] as TimelineRow
    const near = row.bars.find(({ to }) => to >= (bar?.from ?? 0)) ?? row.bars.at(-1)
    if (near !== undefined) return onChoose(row, near)
  }
}

type Hover = { readonly x: number; readonly y: number; readonly row: TimelineRow; readonly bar: Bar } | undefined

/** A wheel zooms and pans, a pointer drags, points and clicks. */
function usePointer(
  body: { readonly current: HTMLElement | null },
  canvas: { readonly current: HTMLCanvasElement | null },
  props: TimelineChartProps & { readonly hover: (hover: Hover) => void },
): void {
  const now = useRef(props)
  now.current = props
  useEffect(() => {
    const element = body.current
    const lanes = canvas.current
    if (element === null || lanes === null) return undefined
    const instant = (clientX: number): number => {
      const { left, width } = lanes.getBoundingClientRect()
      const { from, to } = now.current.range
      return from + ((clientX - left) / width) * (to - from)
    }
    const wheel = (event: WheelEvent) => {
      const { ctrlKey, deltaX, deltaY, metaKey, shiftKey } = event
      const across = shiftKey && deltaX === 0 ? deltaY : deltaX
      if (ctrlKey || metaKey) now.current.onZoom(Math.exp(-deltaY / 200), instant(event.clientX))
      else if (Math.abs(across) > Math.abs(deltaY) || shiftKey) now.current.onPan(across / lanes.clientWidth)
      else return
      event.preventDefault()
    }
    let last: { x: number; y: number; moved: number } | undefined
    const down = ({ button, clientX, clientY, pointerId, pointerType }: PointerEvent) => {
      if (button !== 0) return
      last = { x: clientX, y: clientY, moved: 0 }
      if (pointerType === 'mouse') lanes.setPointerCapture(pointerId)
    }
    const move = ({ clientX, clientY, pointerType }: PointerEvent) => {
      if (last === undefined) return now.current.hover(hit(clientX, clientY))
      const [x, y] = [clientX - last.x, clientY - last.y]
      last = { x: clientX, y: clientY, moved: last.moved + Math.abs(x) + Math.abs(y) }
      if (last.moved < dragPx) return
      now.current.hover(undefined)
      now.current.onPan(-x / lanes.clientWidth)
      if (pointerType === 'mouse') element.scrollTop -= y
    }
    const up = ({ clientX, clientY }: PointerEvent) => {
      const wasClick = last !== undefined && last.moved < dragPx
      last = undefined
      if (!wasClick) return
      const found = hit(clientX, clientY)
      if (found !== undefined) {
        now.current.onChoose(found.row, found.bar)
        now.current.onOpen(found.row, found.bar.span.tick)
        return
      }
      const row = rowUnder(clientY)
      if (row !== undefined) now.current.onInstant(row, instant(clientX))
    }
    const rowUnder = (clientY: number): TimelineRow | undefined => {
      const y = clientY - element.getBoundingClientRect().top + element.scrollTop
      const row = now.current.rows[rowAt(now.current.rows, y)]
      return row !== undefined && y < row.top + row.height ? row : undefined
    }
    const hit = (clientX: number, clientY: number): Hover => {
      const row = rowUnder(clientY)
      if (row === undefined) return undefined
      const { left, top } = element.getBoundingClientRect()
      const y = clientY - top + element.scrollTop - row.top
      const lane = row.lanes[Math.floor((y - laneTop(row, 0)) / laneHeight)]
      const ms = instant(clientX)
      const slackMs = (3 / lanes.clientWidth) * (now.current.range.to - now.current.range.from)
      const bar = lane?.[firstFrom(lane, ms - slackMs)]
      if (bar === undefined || bar.from > ms + slackMs) return undefined
      return { x: clientX - left + 12, y: clientY - top + 40, row, bar }
    }
    const leave = () => now.current.hover(undefined)
    element.addEventListener('wheel', wheel, { passive: false })
    lanes.addEventListener('pointerdown', down)
    lanes.addEventListener('pointermove', move)
    lanes.addEventListener('pointerup', up)
    lanes.addEventListener('pointerleave', leave)
    return () => {
      element.removeEventListener('wheel', wheel)
      lanes.removeEventListener('pointerdown', down)
      lanes.removeEventListener('pointermove', move)
      lanes.removeEventListener('pointerup', up)
      lanes.removeEventListener('pointerleave', leave)
    }
  }, [])
}
