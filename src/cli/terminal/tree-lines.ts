import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'
import { durationText, many, numberText, shortNumberText } from './amounts.ts'
import type { Span, Style, StyledLine } from './screen.ts'
import type { Branch, BranchState } from './session-tree.ts'

export interface TreeLinesOptions {
  /** `Infinity`: nothing is truncated. */
  readonly columns: number
  /** Ended branches are dropped first. @default no limit */
  readonly maxLines?: number | undefined
  /** The mark of running branches. */
  readonly spinner: string
}

const indent = '  '
const gap = '  '
/** Kept for the current activity. */
const doingColumns = 16
const wideColumns = 100

/** Lines of mark and name, columns of state, steps, tokens and time, and the current activity. */
export function treeLines(branches: readonly Branch[], options: TreeLinesOptions): StyledLine[] {
  const { shown, leftOut } = fitted(branches, options.maxLines ?? Infinity)
  const heads = shown.map((branch) => headOf(branch, shown, options))
  const headWidth = Math.max(0, ...heads.map(lineWidth))
  const facts = shown.map((branch) => factsOf(branch, options.columns))
  const forDoing = Math.min(doingColumns, options.columns / 4)
  const widths = factWidths(facts, options.columns - indent.length - headWidth - forDoing)
  const lines = shown.map(({ state, doing }, row): StyledLine => {
    const head = heads[row] ?? []
    const cells = (facts[row] ?? []).flatMap((text, column): Span[] => {
      const width = widths[column] ?? 0
      const space = ' '.repeat(Math.max(0, width - stringWidth(text)))
      return width === 0
        ? []
        : [{ text: gap + (column === 0 ? text + space : space + text), style: factStyle(column, state) }]
    })
    const padding = ' '.repeat(headWidth - lineWidth(head))
    return trimmed([
      { text: indent },
      ...head,
      { text: padding },
      ...cells,
      { text: gap + doing, style: doingStyle(state) },
    ])
  })
  return leftOut === 0 ? lines : [...lines, [{ text: `${indent}… and ${leftOut} more`, style: 'dim' }]]
}

function headOf(
  { path, name, state }: Branch,
  shown: readonly Branch[],
  { columns, spinner }: TreeLinesOptions,
): Span[] {
  const style = markStyle(state)
  const maxName = Math.max(8, Math.floor(Math.min(columns, 200) / 5))
  return [
    { text: forkOf(path, shown), style: 'dim' },
    { text: `${markOf(state, spinner)} `, style },
    { text: cliTruncate(name, maxName), style: 'bold' },
  ]
}

function forkOf(path: readonly string[], shown: readonly Branch[]): string {
  const at = shown.findIndex((branch) => branch.path === path)
  return path
    .map((_, depth) => {
      const isLast = !shown.slice(at).some((branch) => isSibling(branch.path, path, depth))
      if (depth < path.length - 1) return isLast ? '   ' : '│  '
      return isLast ? '└─ ' : '├─ '
    })
    .join('')
}

/** Do the paths first differ at this depth? */
function isSibling(one: readonly string[], other: readonly string[], depth: number): boolean {
  const isSameAbove = other.slice(0, depth).every((id, index) => one[index] === id)
  return isSameAbove && one[depth] !== undefined && one[depth] !== other[depth]
}

function factsOf({ state, steps, tokens, durationMs }: Branch, columns: number): string[] {
  const tokensText = columns < wideColumns ? `${shortNumberText(tokens)} tok` : `${numberText(tokens)} tokens`
  return [
    state,
    steps > 0 ? many(steps, 'step') : '',
    tokens > 0 ? tokensText : '',
    durationMs > 0 ? durationText(durationMs) : '',
  ]
}

/** Columns in the order in which they are dropped. */
const leastWanted = [2, 1, 3, 0]

/** 0 for columns without room. */
function factWidths(facts: readonly (readonly string[])[], room: number): number[] {
  const widths = leastWanted.map((_, column) => Math.max(0, ...facts.map((cells) => stringWidth(cells[column] ?? ''))))
  const taken = (): number => widths.reduce((sum, width) => sum + (width === 0 ? 0 : gap.length + width), 0)
  for (const column of leastWanted) if (taken() > room) widths[column] = 0
  return widths
}

/** Drops ended branches, the oldest first, then the last ones. */
function fitted(
  branches: readonly Branch[],
  maxLines: number,
): { readonly shown: readonly Branch[]; readonly leftOut: number } {
  if (branches.length <= maxLines) return { shown: branches, leftOut: 0 }
  const excess = branches.length - Math.max(1, maxLines - 1)
  const ended = branches.filter(({ path, state }) => path.length > 0 && endedStates.has(state))
  const dropped = new Set(ended.slice(0, excess))
  const shown = branches.filter((branch) => !dropped.has(branch)).slice(0, branches.length - excess)
  return { shown, leftOut: excess }
}

const endedStates: ReadonlySet<BranchState> = new Set(['succeeded', 'failed', 'timed_out', 'cancelled'])

function markOf(state: BranchState, spinner: string): string {
  const marks: Readonly<Record<BranchState, string>> = {
    queued: '○',
    running: spinner,
    answering: spinner,
    asleep: '◌',
    succeeded: '✓',
    failed: '✗',
    timed_out: '✗',
    cancelled: '–',
    stopped: '‖',
  }
  return marks[state]
}

function markStyle(state: BranchState): Style {
  if (state === 'succeeded') return 'green'
  if (state === 'failed' || state === 'timed_out') return 'red'
  return state === 'running' || state === 'answering' ? 'cyan' : 'dim'
}

function factStyle(column: number, state: BranchState): Style {
  return column === 0 ? markStyle(state) : 'dim'
}

function doingStyle(state: BranchState): Style | undefined {
  if (state === 'failed' || state === 'timed_out') return 'red'
  return state === 'running' || state === 'answering' ? undefined : 'dim'
}

function lineWidth(line: StyledLine): number {
  return stringWidth(line.map(({ text }) => text).join(''))
}

function trimmed(line: Span[]): StyledLine {
  while (line.at(-1)?.text.trim() === '') line.pop()
  const last = line.pop()
  return last === undefined ? [] : [...line, { ...last, text: last.text.trimEnd() }]
}
