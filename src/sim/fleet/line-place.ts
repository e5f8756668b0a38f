import type { SessionOrder } from '../../engine/children/session-fleet.ts'
import { suspectStrikes } from '../../engine/fleet/strikes.ts'

/** A session in line, or with a worker. */
export interface Place {
  readonly order: SessionOrder
  readonly tenant: string
  /** The worker that holds it; absent: it is in line. */
  worker: string | undefined
  /** How often it was given to a worker. */
  claim: number
  sinceMs: number
  hasSlot: boolean
  /** It waits for a slot, in line or where it is held. */
  wantsSlot: boolean
  /** It had a slot before: it goes ahead of all that never had one. */
  isReturning: boolean
  /** Nobody is given it before it has a letter or is due. */
  isResting: boolean
  isFinished: boolean
  /** It is given to one more worker, although it is held. */
  isDoubled: boolean
  /** How many workers in a row have died while they held it, that were followed by others. */
  strikes: number
  /** Who had it and is thought dead. */
  lostBy: string | undefined
  /** Until when a worker is not given it, in milliseconds since 1970. */
  readonly unfit: Map<string, number>
  /** Since when no worker could drive it. */
  unfitSinceMs: number | undefined
}

/** A session that has come to wait for its first slot. */
export function newPlace(order: SessionOrder, tenant: string, sinceMs: number): Place {
  return {
    order,
    tenant,
    worker: undefined,
    claim: 0,
    sinceMs,
    hasSlot: false,
    wantsSlot: true,
    isReturning: false,
    isResting: false,
    isFinished: false,
    isDoubled: false,
    strikes: 0,
    lostBy: undefined,
    unfit: new Map(),
    unfitSinceMs: undefined,
  }
}

/** A worker that asks for sessions. */
export interface Taker {
  readonly worker: string
  readonly dateMs: number
  /** It is given no suspect. */
  readonly hasSuspect: boolean
  /** With so many strikes a session is driven no more. */
  readonly maxStrikes: number
}

/** Whether its holders may have died of it, as far as any death counts. */
export function isSuspect({ lostBy, strikes }: Place, maxStrikes: number, worker?: string): boolean {
  const all = strikes + Number(lostBy !== undefined && lostBy !== worker)
  return suspectStrikes <= all && all < maxStrikes && maxStrikes < Infinity
}

/** It can be given to a worker, as far as that has not put it back. */
function isFit(place: Place, { dateMs, hasSuspect, maxStrikes, worker }: Taker): boolean {
  return (place.unfit.get(worker) ?? 0) <= dateMs && !(hasSuspect && isSuspect(place, maxStrikes, worker))
}

/** It waits for its first slot. */
export function isFirst({ hasSlot, isFinished, isReturning, worker }: Place): boolean {
  return worker === undefined && !hasSlot && !isReturning && !isFinished
}

/** Of those that need a slot the first of each tenant; of these, that of the tenant with the fewest slots. */
export function firstInLine(places: readonly Place[], taker: Taker, tenantCap: number): Place | undefined {
  const slots = Map.groupBy(
    places.filter(({ hasSlot }) => hasSlot),
    ({ tenant }) => tenant,
  )
  const slotsOf = ({ tenant }: Place): number => slots.get(tenant)?.length ?? 0
  const firsts = new Map<string, Place>()
  for (const place of inLine(places)) {
    if (isFit(place, taker) && !firsts.has(place.tenant) && slotsOf(place) < tenantCap) firsts.set(place.tenant, place)
  }
  return [...firsts.values()].toSorted(
    (a, b) =>
      slotsOf(a) - slotsOf(b) || Number(b.isReturning) - Number(a.isReturning) || places.indexOf(a) - places.indexOf(b),
  )[0]
}

/** Those that nobody holds and that need a slot: who had a slot before, then the others, each in order of arrival. */
function inLine(places: readonly Place[]): readonly Place[] {
  const waiting = places.filter(({ isFinished, wantsSlot, worker }) => !isFinished && worker === undefined && wantsSlot)
  return [...waiting.filter(({ isReturning }) => isReturning), ...waiting.filter(({ isReturning }) => !isReturning)]
}

/** One that nobody holds, and that needs no slot: it only waits, and does not rest. */
export function firstWaiting(places: readonly Place[], taker: Taker): Place | undefined {
  return places.find((place) => {
    const { isFinished, isResting, wantsSlot, worker } = place
    return worker === undefined && !isFinished && !wantsSlot && !isResting && isFit(place, taker)
  })
}
