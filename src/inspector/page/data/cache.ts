import { computed, signal } from '@preact/signals'
import type { CacheEntry, CacheReply, Problem } from '../../reading/wire.ts'
import { callsNow } from './calls.ts'
import { connection, type Moment, moment, problemOf } from './state.ts'

interface KnownCache extends CacheReply {
  readonly world: string
}

const eachMs = 400
const known = signal<KnownCache | undefined>(undefined)
export const cacheProblem = signal<Problem | undefined>(undefined)
let isAsking = false
let timer: ReturnType<typeof setTimeout> | undefined

/** Requests up to the tick that is shown, each beside the one before it. */
export const cacheNow = computed((): KnownCache | undefined => {
  const shown = moment.value
  const all = known.value
  if (shown === undefined || all?.world !== shown.world.name) return undefined
  // What a provider said of a call may have come since.
  const newest = new Map(callsNow.value?.calls.map((call) => [`${call.tick}/${call.effect}`, call]))
  const requests = all.requests
    .filter(({ tick }) => tick <= shown.tick)
    .map((entry) => ({ ...entry, ...newest.get(`${entry.tick}/${entry.effect}`) }))
  return { ...all, requests }
})

/** Asks for the requests up to a moment, as far as there are new ones. */
export function wantCache({ world: { name } }: Moment): void {
  const all = known.peek()?.world === name ? known.peek() : undefined
  const newest = callsNow.peek()?.calls.findLast(({ purpose }) => purpose === undefined)?.tick
  if (newest === undefined || isAsking || timer !== undefined) return
  if (all === undefined) return void read(name, 0)
  const from = all.to + 1
  if (newest >= from) {
    timer = setTimeout(() => {
      timer = undefined
      void read(name, from)
    }, eachMs)
  }
}

export function wantEarlierRequests(): void {
  const all = known.peek()
  if (all !== undefined && all.from > 1 && !isAsking) void read(all.world, 0, all.from - 1)
}

async function read(world: string, from: number, to?: number): Promise<void> {
  isAsking = true
  try {
    const reply = await connection.get<CacheReply>('cache', { world, from, to })
    const before = known.peek()?.world === world ? known.peek() : undefined
    known.value = before === undefined ? { ...reply, world } : joined(before, reply)
    cacheProblem.value = undefined
  } catch (error) {
    cacheProblem.value = problemOf(error)
  } finally {
    isAsking = false
  }
}

function joined(before: KnownCache, reply: CacheReply): KnownCache {
  const [first, second] = reply.from < before.from ? [reply, before] : [before, reply]
  const requests: readonly CacheEntry[] = [...first.requests, ...second.requests]
  return { world: before.world, requests, from: first.from, to: second.to }
}
