/** The stretch of world time that a timeline shows. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** No closer than this. */
const minMs = 2
/** Empty room at both sides of all that there is, as a part of it. */
const margin = 0.02

export function whole(all: Range): Range {
  const room = (all.to - all.from) * margin
  return { from: all.from - room, to: all.to + room }
}

/** @param factor above 1: closer. @param at the instant that keeps its place */
export function zoomed(range: Range, factor: number, at: number, all: Range): Range {
  const most = whole(all)
  const wanted = Math.max(minMs, (range.to - range.from) / factor)
  if (wanted >= most.to - most.from) return most
  const from = at - ((at - range.from) / (range.to - range.from)) * wanted
  return kept({ from, to: from + wanted }, most)
}

/** @param share of what is shown, to the right */
export function panned(range: Range, share: number, all: Range): Range {
  const by = (range.to - range.from) * share
  return kept({ from: range.from + by, to: range.to + by }, whole(all))
}

/** Shows an instant, and moves no more than that takes. */
export function showing(range: Range, at: number, all: Range): Range {
  const room = (range.to - range.from) * 0.1
  if (at >= range.from + room && at <= range.to - room) return range
  const by = at < range.from + room ? at - range.from - room : at - range.to + room
  return kept({ from: range.from + by, to: range.to + by }, whole(all))
}

/** The same length, within what there is. */
function kept({ from, to }: Range, most: Range): Range {
  const by = from < most.from ? most.from - from : to > most.to ? most.to - to : 0
  return { from: from + by, to: to + by }
}

/** As it stands in the address. */
export function rangeText({ from, to }: Range): string {
  return `${Number(from.toFixed(3))}~${Number(to.toFixed(3))}`
}

export function rangeIn(text: string | undefined): Range | undefined {
  const found = /^(-?\d{1,15}(?:\.\d{1,3})?)~(-?\d{1,15}(?:\.\d{1,3})?)$/.exec(text ?? '')
  const range = { from: Number(found?.[1]), to: Number(found?.[2]) }
  return range.to > range.from ? range : undefined
}

/** Round instants, about so far apart. */
export function gridOf({ from, to }: Range, count: number): readonly number[] {
  const raw = (to - from) / Math.max(1, count)
  const step = steps.find((each) => each >= raw) ?? 10 ** Math.ceil(Math.log10(raw))
  const found: number[] = []
  for (let at = Math.ceil(Math.max(0, from) / step) * step; at <= to; at += step) found.push(at)
  return found
}

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const steps = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12, 24, 48, 168].map((count) => count * hour),
]

function rest(part: number, digits = 2): string {
  return String(Math.floor(part)).padStart(digits, '0')
}

/** An instant of the axis, as exact as its neighbours need it. */
export function axisText(ms: number, step: number): string {
  if (step < second) {
    if (ms < minute) return `${(ms / second).toFixed(step < 10 ? 3 : step < 100 ? 2 : 1)} s`
    const seconds = ((ms % minute) / second).toFixed(step < 10 ? 3 : 2).padStart(step < 10 ? 6 : 5, '0')
    if (ms < hour) return `${rest(ms / minute, 1)}:${seconds}`
    return `${rest(ms / hour, 1)}:${rest((ms % hour) / minute)}:${seconds}`
  }
  if (ms < minute && step < minute) return `${ms / second} s`
  if (ms < hour) return `${rest(ms / minute, 1)}:${rest((ms % minute) / second)}`
  return `${rest(ms / hour, 1)}:${rest((ms % hour) / minute)}${step < minute ? `:${rest((ms % minute) / second)}` : ' h'}`
}
