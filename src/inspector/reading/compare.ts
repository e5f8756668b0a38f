import type { Delta } from '../../world/changes.ts'
import type { Entity } from '../../world/component.ts'
import type { Step } from '../../world/journal.ts'
import type { Json } from '../../base/json.ts'
import type { RawWorld } from '../../world/raw-world.ts'

/** What two worlds do not agree in. */
export interface Difference {
  readonly entity: Entity
  readonly component: string
  /** The first item of a log that differs. */
  readonly index?: number | undefined
  /** Absent: it does not have it. */
  readonly one?: Json | undefined
  readonly other?: Json | undefined
}

/** A world that goes on tick by tick. */
export interface ComparedWorld {
  readonly world: RawWorld | undefined
  readonly newest: number
  /** Resolves with `false` if it was told to go elsewhere meanwhile. */
  goTo(tick: number): Promise<boolean>
  step(tick: number): Step | undefined
}

export type Comparison =
  | {
      readonly isSame: true
      readonly ticks: number
      /** To where both were looked at: one of them may go on. */
      readonly tick: number
      readonly otherTick: number
    }
  | {
      readonly isSame: false
      readonly tick: number
      /** That of the other world: one that was restarted meanwhile has more ticks for the same. */
      readonly otherTick: number
      readonly differences: readonly Difference[]
    }

interface ComparisonOptions {
  /** The first tick that is looked at. */
  readonly from: number
  readonly isStopped?: () => boolean
  /** Is told each tick up to which they are alike. */
  readonly seen?: (tick: number) => void
}

/** Differences that are listed of one tick. */
const maxListed = 50

/**
 * Goes through two worlds from a tick on, to the first in which they differ. Times, counts of tries and ids that were made do not
 * count, as in `hash({ stable: true })`. A tick that only says that a process has started is passed over.
 */
export async function firstDifference(
  one: ComparedWorld,
  other: ComparedWorld,
  { from, isStopped = () => false, seen = () => undefined }: ComparisonOptions,
): Promise<Comparison | undefined> {
  if (!(await one.goTo(from)) || !(await other.goTo(from))) return undefined
  const known = new EqualParts()
  let [tick, otherTick] = [from, from]
  let touched: ReadonlyMap<string, Touched> | undefined
  for (let ticks = 0; !isStopped(); ticks++) {
    const [a, b] = [one.world, other.world]
    if (a === undefined || b === undefined) return undefined
    const differences = known.differences(a, b, touched)
    if (differences.length > 0) return { isSame: false, tick, otherTick, differences }
    if (tick >= one.newest || otherTick >= other.newest) return { isSame: true, ticks, tick, otherTick }
    seen(tick)
    const changed = new Map<string, Touched>()
    tick = await onward(one, tick, changed)
    otherTick = await onward(other, otherTick, changed)
    if (tick < 0 || otherTick < 0) return undefined
    touched = changed
  }
  return undefined
}

interface Touched {
  readonly entity: Entity
  readonly component: string
  /** Items of a log below this are as before. */
  readonly keptItems: number
}

/** Goes on by a tick, and further over those in which only a process started. -1: it went elsewhere. */
async function onward(side: ComparedWorld, from: number, changed: Map<string, Touched>): Promise<number> {
  let tick = from
  for (;;) {
    tick++
    if (!(await side.goTo(tick))) return -1
    const step = side.step(tick)
    if (step === undefined) return -1
    touch(step.delta, changed)
    const isStart = step.inputs.length > 0 && step.inputs.every(({ kind }) => kind === 'started')
    if (!isStart || tick >= side.newest) return tick
  }
}

function touch({ appended = {}, removed = {}, set = {}, spliced = {} }: Delta, changed: Map<string, Touched>): void {
  const add = (component: string, entity: Entity, keptItems: number): void => {
    const key = `${component} ${entity}`
    const before = changed.get(key)?.keptItems ?? Infinity
    changed.set(key, { component, entity, keptItems: Math.min(before, keptItems) })
  }
  for (const [name, rows] of Object.entries(set)) for (const [entity] of rows) add(name, entity, 0)
  for (const [name, rows] of Object.entries(appended)) for (const [entity] of rows) add(name, entity, Infinity)
  for (const [name, rows] of Object.entries(spliced)) {
    for (const [entity, edits] of rows) add(name, entity, Math.min(...edits.map(([at]) => at)))
  }
  for (const [name, entities] of Object.entries(removed)) for (const entity of entities) add(name, entity, 0)
}

/** Compares values, and remembers how far logs were found equal: they mostly grow. */
class EqualParts {
  readonly #items = new Map<string, number>()

  /** @param touched what may differ. @default everything */
  differences(one: RawWorld, other: RawWorld, touched?: ReadonlyMap<string, Touched>): readonly Difference[] {
    const found: Difference[] = []
    for (const { component, entity, keptItems } of touched?.values() ?? everything(one, other)) {
      const key = `${component} ${entity}`
      const known = Math.min(this.#items.get(key) ?? 0, keptItems)
      const [a, b] = [one.value(entity, component), other.value(entity, component)]
      const difference = differenceOf(a, b, known)
      if (difference === undefined) {
        if (Array.isArray(a)) this.#items.set(key, a.length)
      } else found.push({ entity, component, ...difference })
      if (found.length === maxListed) break
    }
    return found.toSorted((a, b) => a.entity - b.entity || (a.component < b.component ? -1 : 1))
  }
}

function* everything(...worlds: readonly RawWorld[]): Generator<Touched> {
  const seen = new Set<string>()
  for (const world of worlds) {
    for (const entity of world.entities) {
      for (const [component] of world.valuesOf(entity)) {
        const key = `${component} ${entity}`
        if (!seen.has(key)) yield { component, entity, keptItems: 0 }
        seen.add(key)
      }
    }
  }
}

function differenceOf(
  one: Json | undefined,
  other: Json | undefined,
  known: number,
): Pick<Difference, 'index' | 'one' | 'other'> | undefined {
  if (!Array.isArray(one) || !Array.isArray(other)) return isAlike(one, other) ? undefined : { one, other }
  const length = Math.max(one.length, other.length)
  for (let index = Math.min(known, length); index < length; index++) {
    const [a, b] = [one[index] as Json | undefined, other[index] as Json | undefined]
    if (!isAlike(a, b)) return { index, one: a, other: b }
  }
  return undefined
}

function isAlike(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (one === undefined || other === undefined) return false
  return stable(one) === stable(other)
}

/** Ids that worlds make, such as `session-0f3c4d5e6f708192`. */
const madeId = /\b([a-z][a-z_]*)-[0-9a-f]{16}\b/g

function stable(value: Json): string {
  return JSON.stringify(value, (key, part: unknown) => {
    if (key.endsWith('Ms') || key === 'attempt') return undefined
    return typeof part === 'string' ? part.replaceAll(madeId, '$1') : part
  })
}
