import { computed, signal } from '@preact/signals'
import type { CallEntry, CallsReply, LogEditEntry, Problem } from '../../reading/wire.ts'
import { type Moment, moment, connection, problemOf } from './state.ts'

/** The model calls of a world, as far as they were read. */
export interface KnownCalls extends CallsReply {
  readonly world: string
  /** Nothing earlier is kept. */
  readonly isWhole: boolean
}

/** How soon new ticks are asked for while they come. */
const eachMs = 250

const known = signal<KnownCalls | undefined>(undefined)
export const callsProblem = signal<Problem | undefined>(undefined)
let isAsking = false
let timer: ReturnType<typeof setTimeout> | undefined

/** Those up to the tick that is shown, as they stood then. */
export const callsNow = computed((): KnownCalls | undefined => {
  const shown = moment.value
  const all = known.value
  if (shown === undefined || all?.world !== shown.world.name) return undefined
  const { tick } = shown
  return { ...all, calls: all.calls.filter((call) => call.tick <= tick).map((call) => asOf(call, tick)) }
})

function asOf(call: CallEntry, tick: number): CallEntry {
  if (call.endTick === undefined || call.endTick <= tick) return call
  const { costNanoUsd: _, endMs: __, endTick: ___, failure: ____, usage: _____, ...begun } = call
  return { ...begun, state: 'open', tries: call.tries.filter((at) => at <= tick) }
}

/** Asks for the calls up to a moment, if they are not known yet. To be called where they are shown. */
export function wantCalls({ newest, tick, world: { name } }: Moment): void {
  const all = known.peek()?.world === name ? known.peek() : undefined
  if (all !== undefined && tick <= all.to && tick >= all.from - 1) return
  if (isAsking || timer !== undefined) return
  // What was under way then may have ended since.
  const from = all?.calls.find(({ state }) => state === 'open')?.tick ?? (all === undefined ? 0 : all.to + 1)
  const isBehind = all === undefined || tick > all.to
  if (!isBehind) return wantEarlier()
  const ask = () => {
    timer = undefined
    void read(name, from, Math.max(tick, newest))
  }
  if (all === undefined) ask()
  else timer = setTimeout(ask, eachMs)
}

/** Asks for those before the first that are known. */
export function wantEarlier(): void {
  const all = known.peek()
  if (all === undefined || all.isWhole || isAsking) return
  void read(all.world, 0, all.from - 1)
}

async function read(world: string, from: number, to: number): Promise<void> {
  isAsking = true
  try {
    const reply = await connection.get<CallsReply>('calls', { world, from, to })
    known.value = joined(known.peek(), { ...reply, world, isWhole: false })
    callsProblem.value = undefined
  } catch (error) {
    callsProblem.value = problemOf(error)
    known.value ??= { world, calls: [], edits: [], from, to, isWhole: true }
  } finally {
    isAsking = false
  }
  const shown = moment.peek()
  if (shown !== undefined && callsProblem.peek() === undefined) wantCalls(shown)
}

function joined(before: KnownCalls | undefined, now: KnownCalls): KnownCalls {
  if (before?.world !== now.world) return { ...now, isWhole: isEnd(now) }
  const isEarlier = now.from < before.from
  const [first, second] = isEarlier ? [now, before] : [before, now]
  return {
    world: now.world,
    calls: [...first.calls.filter(({ tick }) => tick < second.from), ...second.calls],
    edits: [...first.edits.filter(({ tick }) => tick < second.from), ...second.edits],
    from: first.from,
    to: second.to,
    isWhole: isEarlier ? isEnd(now) : before.isWhole,
  }
}

const maxTicksPerReply = 20_000

/** Fewer ticks than one reply takes: earlier ones are not kept. */
function isEnd({ from, to }: KnownCalls): boolean {
  return from <= 1 || to - from + 1 < maxTicksPerReply
}

/** In which tick, and when, each message of a conversation came to its place. `undefined`: earlier than what is known. */
export function placesOf(
  edits: readonly LogEditEntry[],
  agent: number,
  { count, tick }: { readonly count: number; readonly tick: number },
): readonly (LogEditEntry | undefined)[] {
  const found: (LogEditEntry | undefined)[] = Array.from({ length: count }, () => undefined)
  // Which message of now each one was, going back.
  let were: (number | undefined)[] = Array.from({ length: count }, (_, index) => index)
  for (let at = edits.length - 1; at >= 0; at--) {
    const edit = edits[at] as LogEditEntry
    if (edit.agent !== agent || edit.tick > tick) continue
    const from = edit.at ?? were.length - edit.added
    for (const index of were.slice(from, from + edit.added)) if (index !== undefined) found[index] = edit
    if (edit.at === undefined) were.length = Math.max(0, from)
    else were = [...were.slice(0, from), ...Array<undefined>(edit.removed), ...were.slice(from + edit.added)]
  }
  return found
}
