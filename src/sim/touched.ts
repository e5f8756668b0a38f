import type { DrivenStep } from '../engine/effects/host-seams.ts'
import type { LogEdit } from '../world/changes.ts'
import type { Component, Entity, Log } from '../world/component.ts'

/**
 * What the newest tick has done to one component. Whoever asks for it holds on to it from one tick to the next: a field is
 * read for less than a name is looked up in a delta, and most ticks have nothing to do with most components.
 */
export class Touched<V = unknown, Item = unknown> {
  readonly name: string
  set: readonly (readonly [Entity, V])[] = none
  appended: readonly (readonly [Entity, readonly Item[]])[] = none
  spliced: readonly (readonly [Entity, readonly LogEdit[]])[] = none
  removed: readonly Entity[] = none
  /** Bits of those who want to see a tick that does so. */
  ofSet = 0
  ofAppended = 0
  ofSpliced = 0
  ofRemoved = 0
  isFresh = false

  constructor(name: string) {
    this.name = name
  }
}

/** Which ticks have to do with a law. */
export interface Concern {
  /** That set one of these. */
  readonly set?: readonly Component[]
  /** That append to one of these. */
  readonly appended?: readonly Log[]
  /** That change one of these elsewhere than at its end. */
  readonly spliced?: readonly Log[]
  /** That take one of these from an entity which is still there. */
  readonly removed?: readonly Component[]
  /** That tell of such a thing. */
  readonly events?: readonly string[]
  /** That despawn something. */
  readonly despawned?: boolean
}

const none: readonly never[] = []
/** So many bits a number has. */
const maxConcerns = 31

const byName = new Map<string, Touched>()
/** Bits by type of event. */
const byEvent = new Map<string, number>()
let ofDespawned = 0
let concerns = 0

let newest: DrivenStep | undefined
let concerned = 0
/** What the newest tick has touched. */
const fresh: Touched[] = []

/** Where a tick's changes of a component are to be found, once it was looked at. To be asked for when a law is loaded. */
export function touchedOf<T>(token: Component & { readonly schema: { readonly _output: T } }): Touched<T>
export function touchedOf(token: Component): Touched
export function touchedOf({ name }: Component): Touched {
  return named(name)
}

/** The same of a log. */
export function touchedLogOf<T>({
  name,
}: Log & { readonly schema: { readonly _output: T } }): Touched<readonly T[], T> {
  return named(name) as Touched<readonly T[], T>
}

/** A bit that says whether a tick has to do with a law. To be asked for when the law is loaded. */
export function concernOf(concern: Concern): number {
  const { set = [], appended = [], spliced = [], removed = [], events = [], despawned = false } = concern
  if (concerns === maxConcerns) throw new Error(`There are more than ${maxConcerns} laws with a concern.`)
  const bit = 1 << concerns++
  for (const { name } of set) named(name).ofSet |= bit
  for (const { name } of appended) named(name).ofAppended |= bit
  for (const { name } of spliced) named(name).ofSpliced |= bit
  for (const { name } of removed) named(name).ofRemoved |= bit
  for (const type of events) byEvent.set(type, (byEvent.get(type) ?? 0) | bit)
  if (despawned) ofDespawned |= bit
  return bit
}

/** Looks through a tick, once for all laws. The bits of those that it concerns. */
export function look(step: DrivenStep): number {
  if (step === newest) return concerned
  forget()
  newest = step
  const { delta } = step
  let found = delta.despawned === undefined ? 0 : ofDespawned
  for (const kind of kinds) {
    const rows = delta[kind]
    if (rows !== undefined) for (const name in rows) found |= enter[kind](freshly(name), rows[name] as never)
  }
  for (const { type } of step.events) found |= byEvent.get(type) ?? 0
  return (concerned = found)
}

const kinds = ['set', 'appended', 'spliced', 'removed'] as const

/** Enters what a tick has done to a component; the bits of those who want to see that. */
const enter = {
  set: (touched: Touched, rows: Touched['set']) => ((touched.set = rows), touched.ofSet),
  appended: (touched: Touched, rows: Touched['appended']) => ((touched.appended = rows), touched.ofAppended),
  spliced: (touched: Touched, rows: Touched['spliced']) => ((touched.spliced = rows), touched.ofSpliced),
  removed: (touched: Touched, rows: Touched['removed']) => ((touched.removed = rows), touched.ofRemoved),
}

/** Everything that a tick has touched. */
export function allTouched(step: DrivenStep): readonly Touched[] {
  look(step)
  return fresh
}

function forget(): void {
  for (const touched of fresh) {
    touched.set = none
    touched.appended = none
    touched.spliced = none
    touched.removed = none
    touched.isFresh = false
  }
  fresh.length = 0
}

function freshly(name: string): Touched {
  const touched = named(name)
  if (!touched.isFresh) {
    touched.isFresh = true
    fresh.push(touched)
  }
  return touched
}

function named(name: string): Touched {
  let touched = byName.get(name)
  if (touched === undefined) byName.set(name, (touched = new Touched(name)))
  return touched
}
