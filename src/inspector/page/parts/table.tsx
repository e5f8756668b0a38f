import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface Column<Row> {
  readonly id: string
  readonly title: string
  /** Of a CSS grid: `120px`, `minmax(160px, 2fr)`. */
  readonly width: string
  readonly cell: (row: Row) => ComponentChildren
  /** Numbers stand at the end. */
  readonly isNumber?: boolean
  /** Left out where there is less room: `some` needs more than a phone has, `much` a window of some width. @default always there */
  readonly room?: 'some' | 'much'
}

export interface TableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly selected?: string | undefined
  readonly onSelect?: (row: Row) => void
  /** Enter, or a double click. */
  readonly onOpen?: (row: Row) => void
  /** For a tree: ← and →. */
  readonly onFold?: (row: Row, isOpen: boolean) => void
  readonly rowState?: (row: Row) => string | undefined
  readonly levelOf?: (row: Row) => number
  readonly empty?: ComponentChildren
}

const rowHeight = 32
/** Of the titles, which stay above the rows. */
const headHeight = 33
/** Rows above and below those that are seen. */
const margin = 12
/** No element is higher in any browser; ten thousand rows are far below it. */
const maxHeight = 15_000_000

/** A table of which only the rows that are seen are in the page, so that ten thousand scroll as ten do. */
export function Table<Row>(props: TableProps<Row>) {
  const { columns, empty, keyOf, label, rows, selected } = props
  const body = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState({ top: 0, height: 800 })
  useLayoutEffect(() => {
    const element = body.current
    if (element === null) return undefined
    const look = () => setSeen(seenOf(element))
    const watch = new ResizeObserver(look)
    watch.observe(element)
    look()
    return () => watch.disconnect()
  }, [])
  const at = selected === undefined ? -1 : rows.findIndex((row) => keyOf(row) === selected)
  const shownAt = useRef<string | undefined>(undefined)
  useEffect(() => {
    // Only what was selected elsewhere is scrolled to: a person who scrolls is left alone.
    if (at < 0 || shownAt.current === selected) return
    shownAt.current = selected
    reveal(body.current, at)
  }, [at, selected])
  const template = columns.map(({ width }) => width).join(' ')
  const some = columns.filter(({ room }) => room !== 'much')
  const few = some.filter(({ room }) => room === undefined)
  const first = Math.max(0, Math.floor(seen.top / rowHeight) - margin)
  const last = Math.min(rows.length, Math.ceil((seen.top + seen.height) / rowHeight) + margin)
  const id = (index: number) => `${label.replaceAll(/\W+/g, '-')}-row-${index}`
  const onKeyDown = (event: KeyboardEvent) => {
    const to = moved(event, at, rows.length, Math.floor(seen.height / rowHeight) - 1)
    const row = rows[to ?? at]
    if (row === undefined) return
    if (to !== undefined) {
      shownAt.current = keyOf(row)
      props.onSelect?.(row)
      reveal(body.current, to)
    } else if (event.key === 'Enter') props.onOpen?.(row)
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') props.onFold?.(row, event.key === 'ArrowRight')
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div
      ref={body}
      class="table"
      role={props.levelOf === undefined ? 'grid' : 'treegrid'}
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={at >= first && at < last ? id(at) : undefined}
      style={{ '--columns': template, '--some-columns': narrow(some), '--few-columns': narrow(few) }}
      onScroll={({ currentTarget }) => setSeen(seenOf(currentTarget))}
      onKeyDown={onKeyDown}
    >
      <div class="table-head" role="rowgroup">
        <div class="table-row" role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <div key={column.id} class={cellClass(column)} role="columnheader">
              {column.title}
            </div>
          ))}
        </div>
      </div>
      <div class="table-body" role="rowgroup">
        {rows.length === 0 ? (
          <div role="row">
            <div role="gridcell">{empty}</div>
          </div>
        ) : (
          <div
            class="table-all"
            role="presentation"
            style={{ height: `${Math.min(rows.length * rowHeight, maxHeight)}px` }}
          >
            {rows.slice(first, last).map((row, offset) => {
              const index = first + offset
              const level = props.levelOf?.(row)
              return (
                <div
                  key={keyOf(row)}
                  id={id(index)}
                  class="table-row"
                  role="row"
                  aria-rowindex={index + 2}
                  aria-selected={index === at}
                  {...(level !== undefined && { 'aria-level': level + 1 })}
                  data-state={props.rowState?.(row)}
                  style={{ transform: `translateY(${index * rowHeight}px)` }}
                  onClick={() => {
                    shownAt.current = keyOf(row)
                    props.onSelect?.(row)
                  }}
                  onDblClick={() => props.onOpen?.(row)}
                >
                  {columns.map((column) => (
                    <div key={column.id} class={cellClass(column)} role="gridcell">
                      {column.cell(row)}
                    </div>
                  ))}
                </div>
              )
            })}
          </div>
        )}
      </div>
    </div>
  )
}

/** The part of the rows that is seen. */
function seenOf({ clientHeight, scrollTop }: HTMLElement): { readonly top: number; readonly height: number } {
  return { top: scrollTop, height: clientHeight - headHeight }
}

function narrow(columns: readonly { readonly width: string }[]): string {
  return columns.map(({ width }) => width.replace(/minmax\(\d+px/, 'minmax(0')).join(' ')
}

function cellClass({ isNumber, room }: { readonly isNumber?: boolean; readonly room?: 'some' | 'much' }): string {
  return `cell${isNumber === true ? ' is-number' : ''}${room === undefined ? '' : ` needs-${room}`}`
}

function moved({ key }: KeyboardEvent, at: number, count: number, page: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: count - 1,
  }
  const to = steps[key]
  return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to))
}

function reveal(element: HTMLDivElement | null, index: number): void {
  if (element === null) return
  const top = index * rowHeight
  if (top < element.scrollTop) element.scrollTop = top
  else if (top + rowHeight > element.scrollTop + element.clientHeight - headHeight)
    element.scrollTop = top + rowHeight - element.clientHeight + headHeight
}
