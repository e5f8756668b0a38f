import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { address, go } from '../data/address.ts'
import { endSpans, spansOf, spansRead, wantEarlier, wantSpans, wantSpansLater } from '../data/spans.ts'
import { useSeconds } from '../data/now.ts'
import { isLive, moment, source, worlds } from '../data/state.ts'
import { panned, type Range, rangeIn, rangeText, showing, whole, zoomed } from '../data/timeline-range.ts'
import { type Bar, clockOf, type TimelineRow, timelineRows, tickAt } from '../data/timeline-rows.ts'
import { durationText, numberText } from '../data/words.ts'
import { BarCard, barText } from '../parts/bar-card.tsx'
import { Empty, Loading, ProblemNotice } from '../parts/notices.tsx'
import { TimelineChart } from '../parts/timeline-chart.tsx'
import type { View } from './view.ts'

/** What all worlds of a tree did, as bars in world time. */
export const timeline: View = {
  id: 'timeline',
  title: 'Timeline',
  key: '5',
  icon: 'M2.5 3.5h6M5 6.5h7M3.5 9.5h5M8 12.5h5.5',
  component: Timeline,
}

/** Where all worlds together have no more ticks, their bars are read without being scrolled to. */
const maxTicksReadAhead = 200_000
const zoomStep = 1.6

interface Chosen {
  readonly world: string
  readonly id: string
}

function Timeline() {
  const shown = moment.value
  const { q, world } = address.value
  const root = (world === undefined ? undefined : worlds.value.get(world)?.root) ?? world
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const [chosen, setChosen] = useState<Chosen | undefined>(undefined)
  const [range, setRange] = useState<Range | undefined>(() => rangeIn(q))
  const revision = spansRead.value
  const all = worlds.value
  useEffect(() => endSpans, [])
  const second = useSeconds(isLive.value)
  useRangeInAddress(range)
  const chart = useMemo(
    () => (root === undefined ? undefined : timelineRows(root, all, folded)),
    [all, folded, revision, root, second],
  )
  const rootKnown = root === undefined ? undefined : spansOf.get(root)
  useEffect(() => {
    if (root === undefined || chart === undefined) return
    // It says when its sessions began, which is the order of the rows: those that are seen come next.
    wantSpans([root])
    if (rootKnown === undefined) return
    const ticks = chart.rows.reduce((sum, row) => sum + (all.get(row.world)?.tick ?? 0), 0)
    if (ticks <= maxTicksReadAhead) wantSpansLater(chart.rows.map((row) => row.world))
  }, [all, chart, root, rootKnown])
  if (chart === undefined || root === undefined)
    return <Empty title="No world yet">A world appears here with its first tick.</Empty>
  if (rootKnown === undefined) return <Loading what="Reading what the worlds did" />
  if (rootKnown.problem !== undefined && chart.rows.length < 2) return <ProblemNotice problem={rootKnown.problem} />
  const { rows } = chart
  const hasBars = rows.some(({ bars, known }) => known === undefined || bars.length > 0)
  const view = range ?? whole(chart)
  const row = rows.find((one) => one.world === (chosen?.world ?? world))
  const bar = row?.bars.find(({ span }) => span.id === chosen?.id)
  const choose = (of: TimelineRow, one: Bar) => {
    setChosen({ world: of.world, id: one.span.id })
    if (range !== undefined) setRange(showing(showing(range, Math.min(one.to, chart.to), chart), one.from, chart))
  }
  const zoom = (factor: number, at = bar?.from ?? (view.from + view.to) / 2) =>
    setRange(zoomed(view, factor, at, chart))
  const isCursorHere = shown !== undefined && spansOf.has(shown.world.name)
  const cursor = isCursorHere
    ? clockOf(spansOf.get(shown.world.name) as NonNullable<typeof rootKnown>, rootKnown)(shown.world.nowMs)
    : undefined
  return (
    <section
      class="view timeline"
      aria-label="Timeline"
      data-read={rows.filter(({ known }) => known !== undefined).length}
    >
      <div class="tools">
        <h1>Timeline</h1>
        <span class="muted">
          {numberText(rows.length)} {rows.length === 1 ? 'world' : 'worlds'}
          {hasBars && `, ${durationText(chart.to - chart.from)} of world time`}
        </span>
        <Legend />
        <span class="space" />
        {(row?.known ?? rootKnown).fromTick > 1 && !(row?.known ?? rootKnown).isOldest && (
          <button type="button" class="link" onClick={() => wantEarlier(row?.world ?? root)}>
            Read what was before tick {numberText((row?.known ?? rootKnown).fromTick)}
          </button>
        )}
        <Zoom isWhole={range === undefined} onZoom={zoom} onWhole={() => setRange(undefined)} />
      </div>
      {!hasBars && (
        <Empty title="Nothing took time">
          {rootKnown.fromTick > 0
            ? `Of the ticks that were read, from ${numberText(rootKnown.fromTick)} on, none began a call or a wait.`
            : 'Model calls, tools, approvals and waits appear here as bars.'}
        </Empty>
      )}
      <TimelineChart
        rows={rows}
        height={chart.height}
        range={view}
        now={chart.to}
        cursor={cursor}
        world={world}
        row={row}
        bar={bar}
        onSeen={(seen) => wantSpans(seen.map((one) => one.world))}
        onFold={(of, isOpen) => {
          const now = new Set(folded)
          now[isOpen ? 'delete' : 'add'](of.world)
          setFolded(now)
        }}
        onZoom={zoom}
        onPan={(share) => setRange(panned(view, share, chart))}
        onWhole={() => setRange(undefined)}
        onChoose={choose}
        onOpen={open}
        onInstant={(of, at) => open(of, tickAt(of, at))}
      />
      <p class="hidden" role="status">
        {row !== undefined && bar !== undefined && barText(row, bar)}
      </p>
      {row !== undefined && bar !== undefined && (
        <BarCard
          row={row}
          bar={bar}
          now={chart.to}
          onOpen={(tick) => open(row, tick)}
          onClose={() => setChosen(undefined)}
        />
      )}
    </section>
  )
}

function open({ world }: TimelineRow, tick: number): void {
  go({ world, tick, entity: undefined })
}

/** The range comes back with a link; while it moves, the address waits. */
function useRangeInAddress(range: Range | undefined): void {
  const isFirst = useRef(true)
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return undefined
    }
    const timer = setTimeout(() => go({ q: range && rangeText(range) }), 250)
    return () => clearTimeout(timer)
  }, [range])
}

function Zoom(props: {
  readonly isWhole: boolean
  readonly onZoom: (factor: number) => void
  readonly onWhole: () => void
}) {
  const { isWhole, onWhole, onZoom } = props
  return (
    <div class="zoom" role="group" aria-label="Zoom">
      <button
        type="button"
        class="icon"
        aria-label="Zoom out"
        title="Zoom out (−)"
        onClick={() => onZoom(1 / zoomStep)}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M3.5 8h9" />
        </svg>
      </button>
      <button type="button" class="icon" aria-label="Zoom in" title="Zoom in (+)" onClick={() => onZoom(zoomStep)}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M3.5 8h9M8 3.5v9" />
        </svg>
      </button>
      <button type="button" class="button" title="Show all (f)" disabled={isWhole} onClick={onWhole}>
        Show all
      </button>
    </div>
  )
}

function Legend() {
  if (source.value === undefined) return null
  return (
    <span class="counts legend">
      {(['model', 'tool', 'approval', 'wait', 'slot', 'failed'] as const).map((kind) => (
        <span key={kind} class="count" data-state={kind}>
          <i aria-hidden="true" />
          {kind}
        </span>
      ))}
    </span>
  )
}
