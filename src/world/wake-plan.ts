import type { Component } from './component.ts'
import type { Input } from './input.ts'

/** What wakes a system: a kind of input, a component, or components together. */
export type Wake = string | Component | readonly Component[]

interface Waking {
  readonly wakes?: readonly Wake[]
}

/** Which kinds of inputs that wake a system a tick has. */
interface Kinds {
  readonly names: ReadonlySet<string>
  /** With one kind more. */
  readonly and: Map<string, Kinds>
}

/** Which components that wake a system a world has, by their index in the plan. */
interface Pattern {
  readonly present: ReadonlySet<number>
  /** With one more or less, by its index. */
  readonly flipped: (Pattern | undefined)[]
  /** By place in the list of systems, and one place behind it: the first from there on that runs; the list's length if none does. */
  readonly awake: Map<Kinds, readonly number[]>
}

/** What is kept of each; then it is computed anew. */
const maxPatterns = 4_096
const maxKinds = 4_096
const maxLists = 16_384

/**
 * When each system of a list runs: it follows from the components that a world has and the inputs of a tick, and is computed
 * once for each such pattern.
 */
export class WakePlan {
  readonly #systems: readonly Waking[]
  readonly #indexes = new Map<Component, number>()
  readonly #waking = new Set<string>()
  readonly #patterns = new Map<string, Pattern>()
  readonly #kinds = new Map<string, Kinds>()
  readonly #noKinds: Kinds = { names: new Set(), and: new Map() }
  #lists = 0

  constructor(systems: readonly Waking[]) {
    this.#systems = systems
    for (const wake of systems.flatMap(({ wakes = [] }) => wakes)) {
      if (typeof wake === 'string') this.#waking.add(wake)
      else for (const token of listOf(wake)) if (!this.#indexes.has(token)) this.#indexes.set(token, this.#indexes.size)
    }
  }

  isFor(systems: readonly Waking[]): boolean {
    return (
      systems.length === this.#systems.length &&
      systems.every(({ wakes }, place) => wakes === this.#systems[place]?.wakes)
    )
  }

  /** -1: it wakes no system. */
  indexOf(token: Component): number {
    return this.#indexes.get(token) ?? -1
  }

  pattern(present: ReadonlySet<number>): Pattern {
    const key = [...present].sort((a, b) => a - b).join()
    const known = this.#patterns.get(key)
    if (known !== undefined) return known
    if (this.#patterns.size >= maxPatterns) this.#patterns.clear()
    const pattern = { present, flipped: [], awake: new Map() }
    this.#patterns.set(key, pattern)
    return pattern
  }

  kindsOf(inputs: readonly Input[]): Kinds {
    let kinds = this.#noKinds
    for (const { kind } of inputs) {
      if (this.#waking.has(kind) && !kinds.names.has(kind))
        kinds = kinds.and.get(kind) ?? this.#withOneMore(kinds, kind)
    }
    return kinds
  }

  #withOneMore(kinds: Kinds, kind: string): Kinds {
    const names = new Set([...kinds.names, kind])
    const key = [...names].sort().join()
    if (this.#kinds.size >= maxKinds) this.#kinds.clear()
    const more = this.#kinds.get(key) ?? { names, and: new Map() }
    this.#kinds.set(key, more)
    kinds.and.set(kind, more)
    return more
  }

  /** What `pattern.awake` does not have yet. */
  awake(pattern: Pattern, kinds: Kinds): readonly number[] {
    if (++this.#lists > maxLists) this.#forgetLists()
    const { length } = this.#systems
    const awake = [length]
    for (const { wakes } of this.#systems.toReversed()) {
      const isAwake = wakes === undefined || wakes.some((wake) => this.#isThere(wake, pattern, kinds))
      awake.unshift(isAwake ? length - awake.length : (awake[0] as number))
    }
    pattern.awake.set(kinds, awake)
    return awake
  }

  #forgetLists(): void {
    this.#lists = 0
    for (const { awake } of this.#patterns.values()) awake.clear()
  }

  #isThere(wake: Wake, { present }: Pattern, { names }: Kinds): boolean {
    if (typeof wake === 'string') return names.has(wake)
    return listOf(wake).every((token) => present.has(this.indexOf(token)))
  }
}

/** Which components that wake a system a world has now. Its columns tell it of their first value and their last. */
export class Presence {
  readonly #plan: WakePlan
  pattern: Pattern

  constructor(plan: WakePlan) {
    this.#plan = plan
    this.pattern = plan.pattern(new Set())
  }

  indexOf(token: Component): number {
    return this.#plan.indexOf(token)
  }

  /** The component of this index is there now if it was not, and the other way round. */
  flip(index: number): void {
    const { pattern } = this
    this.pattern = pattern.flipped[index] ?? this.#flipped(pattern, index)
  }

  #flipped(pattern: Pattern, index: number): Pattern {
    const present = new Set(pattern.present)
    if (!present.delete(index)) present.add(index)
    while (pattern.flipped.length <= index) pattern.flipped.push(undefined)
    return (pattern.flipped[index] = this.#plan.pattern(present))
  }

  kindsOf(inputs: readonly Input[]): Kinds {
    return this.#plan.kindsOf(inputs)
  }

  /** What the pattern does not have yet of `awake`. */
  awake(kinds: Kinds): readonly number[] {
    return this.#plan.awake(this.pattern, kinds)
  }
}

function listOf(wake: Component | readonly Component[]): readonly Component[] {
  return isList(wake) ? wake : [wake]
}

function isList(wake: Component | readonly Component[]): wake is readonly Component[] {
  return Array.isArray(wake)
}

const maxPlans = 8
const plans: WakePlan[] = []

/** Worlds whose systems wake alike share one. */
export function planOf(systems: readonly Waking[]): WakePlan {
  const known = plans.find((plan) => plan.isFor(systems))
  if (known !== undefined) return known
  const plan = new WakePlan(systems)
  if (plans.unshift(plan) > maxPlans) plans.pop()
  return plan
}
