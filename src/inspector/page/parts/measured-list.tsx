import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'

export interface MeasuredListProps<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Of a row that was not seen yet, in pixels. */
  readonly estimate: (row: Row) => number
  readonly render: (row: Row) => ComponentChildren
  readonly empty?: ComponentChildren
  /** Where it begins. @default 'end' */
  readonly startsAt?: 'start' | 'end'
  /** Called with what is seen, and what is near it. */
  readonly onSeen?: (rows: readonly Row[], isStart: boolean) => void
}

/** Above and below what is seen. */
const margin = 600
/** How near to its end a list counts as being at it. */
const nearEnd = 32

/** A list of rows of any height, of which only those that are seen are in the page. At its end it stays there as it grows. */
export function MeasuredList<Row>(props: MeasuredListProps<Row>) {
  const { estimate, keyOf, label, render, rows } = props
  const box = useRef<HTMLDivElement>(null)
  const heights = useRef(new Map<string, number>())
  const isAtEnd = useRef(props.startsAt !== 'start')
  const lastTop = useRef(0)
  const [seen, setSeen] = useState({ top: 0, height: 800 })
  const [version, setVersion] = useState(0)
  const tops = useMemo(() => {
    const found = new Float64Array(rows.length + 1)
    rows.forEach((row, index) => {
      found[index + 1] = (found[index] ?? 0) + (heights.current.get(keyOf(row)) ?? estimate(row))
    })
    return found
  }, [rows, version])
  const all = tops.at(-1) ?? 0
  const first = Math.max(0, firstBehind(tops, seen.top - margin) - 1)
  const last = Math.min(rows.length, firstBehind(tops, seen.top + seen.height + margin))
  const shown = rows.slice(first, last)
  const watch = useMeasures(box, (changed) => {
    let isChanged = false
    let above = 0
    const element = box.current
    for (const { height, index, key } of changed) {
      const before = heights.current.get(key) ?? (tops[index + 1] ?? 0) - (tops[index] ?? 0)
      if (Math.abs(before - height) < 0.5) continue
      heights.current.set(key, height)
      isChanged = true
      if (element !== null && (tops[index + 1] ?? 0) <= element.scrollTop) above += height - before
    }
    if (!isChanged) return
    // What is read stays where it is while rows above it get their real heights.
    if (element !== null && above !== 0 && !isAtEnd.current) element.scrollTop += above
    setVersion((now) => now + 1)
  })
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    if (isAtEnd.current) element.scrollTop = element.scrollHeight
    if (element.scrollTop !== seen.top || element.clientHeight !== seen.height)
      setSeen({ top: element.scrollTop, height: element.clientHeight })
  }, [all, rows])
  useLayoutEffect(() => props.onSeen?.(shown, first === 0), [first, last, rows])
  return (
    <div
      ref={box}
      class="list"
      role="feed"
      tabIndex={0}
      aria-label={label}
      onScroll={({ currentTarget: { clientHeight, scrollHeight, scrollTop } }) => {
        const isNear = scrollTop + clientHeight >= scrollHeight - nearEnd
        // What grows below has not been scrolled away from.
        if (isNear) isAtEnd.current = props.startsAt !== 'start'
        else if (scrollTop < lastTop.current) isAtEnd.current = false
        lastTop.current = scrollTop
        setSeen({ top: scrollTop, height: clientHeight })
      }}
    >
      {rows.length === 0 && props.empty}
      <div class="list-all" style={{ height: `${all}px` }}>
        <div class="list-seen" style={{ transform: `translateY(${tops[first] ?? 0}px)` }}>
          {shown.map((row, offset) => (
            <div
              key={keyOf(row)}
              ref={(element) => watch(element, keyOf(row))}
              class="list-row"
              role="article"
              aria-posinset={first + offset + 1}
              aria-setsize={rows.length}
              data-key={keyOf(row)}
              data-index={first + offset}
            >
              {render(row)}
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}

interface Measure {
  readonly key: string
  readonly index: number
  readonly height: number
}

/** Tells of rows whose heights have changed, and of the list's own. */
function useMeasures(box: { readonly current: HTMLElement | null }, hear: (changed: readonly Measure[]) => void) {
  const heard = useRef(hear)
  heard.current = hear
  const observed = useRef(new Map<string, Element>())
  const observer = useRef<ResizeObserver | undefined>(undefined)
  observer.current ??= new ResizeObserver((entries) => {
    heard.current(
      entries.flatMap(({ target }) => {
        const { index, key } = (target as HTMLElement).dataset
        if (key === undefined || !target.isConnected) return []
        return [{ key, index: Number(index), height: target.getBoundingClientRect().height }]
      }),
    )
    if (entries.some(({ target }) => target === box.current)) box.current?.dispatchEvent(new Event('scroll'))
  })
  useLayoutEffect(() => {
    if (box.current !== null) observer.current?.observe(box.current)
    return () => observer.current?.disconnect()
  }, [])
  return (element: HTMLElement | null, key: string) => {
    const before = observed.current.get(key)
    if (before === element) return
    if (before !== undefined) observer.current?.unobserve(before)
    observed.current.delete(key)
    if (element === null) return
    observed.current.set(key, element)
    observer.current?.observe(element)
  }
}

/** Index of the first row whose top lies behind a place. */
function firstBehind(tops: Float64Array, place: number): number {
  let [low, high] = [0, tops.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((tops[middle] ?? 0) > place) high = middle
    else low = middle + 1
  }
  return low
}
