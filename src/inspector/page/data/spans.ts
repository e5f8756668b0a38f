import { signal } from '@preact/signals'
import { ownValue } from '../../reading/own-value.ts'
import type { Span, WorldSpans } from '../../reading/spans.ts'
import type { Problem } from '../../reading/wire.ts'
import type { SpansOf, SpansQuery, SpansReply } from '../../reading/wire-of-many.ts'
import { ProblemError } from './connection.ts'
import { connection, worlds } from './state.ts'

/** What is known of a world's bars. */
export interface KnownSpans {
  readonly spans: ReadonlyMap<string, Span>
  readonly fromTick: number
  readonly tick: number
  readonly nowMs: number
  readonly clock: WorldSpans['clock']
  readonly path: readonly string[]
  readonly problem?: Problem | undefined
  /** What was before is not kept. */
  readonly isOldest?: boolean | undefined
}

const worldsPerAsk = 100
/** News of worlds are read together this long. */
const pauseMs = 400
/** How many ticks before what is known are read at once. */
const earlierTicks = 20_000

/** By world. A new object for each that has changed. */
export const spansOf = new Map<string, KnownSpans>()
/** Unix time less what `performance.now()` says, where a clock drives the worlds. */
export let dateAheadMs: number | undefined
/** Counts the changes of `spansOf`. */
export const spansRead = signal(0)

let wanted = new Map<string, SpansOf>()
let isAsking = false
let timer: ReturnType<typeof setTimeout> | undefined

/** Asks for the bars of worlds that are not known, or have moved since, before all that was asked for until now. */
export function wantSpans(names: Iterable<string>): void {
  const ahead = notRead(names)
  if (ahead.size === 0) return
  wanted = new Map([...ahead, ...wanted, ...ahead])
  ask()
}

/** The same, once everything else has been read. */
export function wantSpansLater(names: Iterable<string>): void {
  const later = notRead(names)
  if (later.size === 0) return
  wanted = new Map([...wanted, ...later])
  ask()
}

function notRead(names: Iterable<string>): ReadonlyMap<string, SpansOf> {
  const found = new Map<string, SpansOf>()
  for (const world of names) {
    const tick = worlds.value.get(world)?.tick
    const known = spansOf.get(world)
    if (known !== undefined && (tick === undefined || tick <= known.tick)) continue
    found.set(world, { world, ...(known !== undefined && known.problem === undefined && { after: known.tick }) })
  }
  return found
}

/** Asks for what a world did before that. */
export function wantEarlier(world: string): void {
  const known = spansOf.get(world)
  if (known === undefined || known.fromTick === 0) return
  const { fromTick: to } = known
  wanted = new Map([[world, { world, after: Math.max(0, to - earlierTicks), to }], ...wanted])
  ask(0)
}

/** Nothing more is asked for. */
export function endSpans(): void {
  clearTimeout(timer)
  timer = undefined
  wanted.clear()
}

/** News of worlds that are known wait for others, so that a world that moves is not asked for at each tick. */
function ask(waitMs = [...wanted.values()].some(({ world }) => !spansOf.has(world)) ? 0 : pauseMs): void {
  if (isAsking) return
  timer ??= setTimeout(() => {
    timer = undefined
    void read()
  }, waitMs)
}

async function read(): Promise<void> {
  const asked = [...wanted.values()].slice(0, worldsPerAsk)
  if (asked.length === 0) return
  for (const { world } of asked) wanted.delete(world)
  isAsking = true
  try {
    const { dateMs, spans } = await connection.post<SpansReply>('spans', { worlds: asked } satisfies SpansQuery)
    dateAheadMs = dateMs && dateMs - performance.now()
    for (const one of asked) take(one, ownValue(spans, one.world))
    const left = asked
      .filter(({ world }) => ownValue(spans, world) === undefined)
      .map((one) => [one.world, one] as const)
    // What was wanted meanwhile of those that are read now is wanted again if they have moved.
    const others = [...wanted].filter(([world, { to }]) => ownValue(spans, world) === undefined || to !== undefined)
    wanted = new Map([...left, ...others])
    spansRead.value++
  } catch (error) {
    // They are wanted again with the next news.
    if (error instanceof ProblemError) for (const one of asked) take(one, { problem: error.problem })
    spansRead.value++
  } finally {
    isAsking = false
  }
  if (wanted.size > 0) ask()
}

function take({ after, to, world }: SpansOf, found: SpansReply['spans'][string] | undefined): void {
  const known = spansOf.get(world)
  if (found === undefined) return
  if ('problem' in found) {
    const tick = worlds.value.get(world)?.tick ?? 0
    const empty = { spans: new Map(), fromTick: 0, tick, nowMs: 0, clock: [], path: [] }
    spansOf.set(world, { ...empty, ...known, problem: found.problem })
    return
  }
  const isEarlier = to !== undefined
  // What does not follow what is known takes its place.
  const before =
    known !== undefined && (isEarlier || found.fromTick <= known.tick) && after !== undefined ? known : undefined
  const spans = new Map(before?.spans)
  for (const span of found.spans)
    spans.set(span.id, isEarlier ? joined(span, spans.get(span.id)) : joined(spans.get(span.id), span))
  const { clock, fromTick, nowMs, path, tick } = found
  spansOf.set(world, {
    spans,
    fromTick: Math.min(fromTick, before?.fromTick ?? Infinity),
    tick: Math.max(tick, before?.tick ?? 0),
    nowMs: Math.max(nowMs, before?.nowMs ?? 0),
    clock:
      before === undefined ? clock : joinedClocks(isEarlier ? clock : before.clock, isEarlier ? before.clock : clock),
    isOldest: before?.isOldest === true || (isEarlier && fromTick >= (before?.fromTick ?? 0)),
    path: path.length === 0 ? (before?.path ?? []) : path,
  })
}

/** A bar as its two parts tell of it: where it began, and how it ended. */
function joined(first: Span | undefined, last: Span | undefined): Span {
  if (first === undefined || last === undefined) return (first ?? last) as Span
  const { fromMs, isOlder, tick } = first
  return { ...last, fromMs, tick, isOlder }
}

function joinedClocks(first: WorldSpans['clock'], last: WorldSpans['clock']): WorldSpans['clock'] {
  const found = [...first]
  for (const one of last) if (one[1] !== found.at(-1)?.[1]) found.push(one)
  // The same list where nothing is new: what is laid out by it stays.
  return found.length === first.length ? first : found
}
