import type { StandardInput } from '../../protocol/input.ts'
import type { DrivenWorld } from '../../engine/effects/host-seams.ts'
import type { VirtualClock } from '../../engine/loop/virtual-clock.ts'
import type { Step } from '../../world/journal.ts'
import type { OutsideInputs } from './outside-inputs.ts'
import type { RecordedTick } from './recorded-answers.ts'
import type { Input } from '../../world/input.ts'

/** What brings inputs in as they were recorded. */
interface PaceParts {
  readonly ticks: ReadonlyMap<string, readonly RecordedTick[]>
  readonly clock: VirtualClock
  readonly label: (world: string) => string
  /** What came from outside, to come again. */
  readonly outside: OutsideInputs
  /** False: from the start, whatever comes in does so at its own time. */
  readonly isKept: boolean
  /** All that was recorded has come in. */
  readonly over: () => void
}

interface PacedWorld {
  readonly groups: readonly PacedGroup[]
  next: number
  /** Its time is so much behind the clock. */
  offsetMs: number
  /** How often each input is still to come. */
  readonly left: Map<string, number>
  /** What has come and waits for its tick, by key. */
  readonly held: Map<string, () => void>
  /** Of the last group: what is not in the world yet. */
  readonly awaited: Set<string>
  isTimed: boolean
}

function isPast({ groups, next, awaited }: PacedWorld): boolean {
  return next === groups.length && awaited.size === 0
}

/**
 * Lets a replay go the way of its recording: what came in with one tick comes in with one tick again, at its time, in its
 * order, so that a run on a real clock is met again on a virtual one. Leaves off where the replay goes another way.
 */
export class RecordedPace {
  readonly #parts: PaceParts
  readonly #worlds = new Map<string, PacedWorld>()
  #isKept: boolean
  /** What the recorded run had not, and what may wait until that is over. */
  readonly #aside: (() => void)[] = []

  constructor(parts: PaceParts) {
    this.#parts = parts
    this.#isKept = parts.isKept
  }

  began({ world, path }: DrivenWorld): void {
    const { clock, label, outside, ticks } = this.#parts
    const name = label(world.name)
    const offsetMs = clock.now() - world.nowMs
    const known = this.#worlds.get(name)
    if (known !== undefined) {
      known.offsetMs = offsetMs
      return
    }
    const groups = pacedGroups(name, ticks.get(name) ?? [], (input) => outside.has(input, path.length === 0))
    const left = new Map<string, number>()
    for (const { key } of groups.flatMap(({ expected }) => expected)) left.set(key, (left.get(key) ?? 0) + 1)
    const paced = { groups, next: 0, offsetMs, left, held: new Map(), awaited: new Set<string>(), isTimed: false }
    this.#worlds.set(name, paced)
    outside.expect(groups.flatMap(({ expected }) => expected.filter(({ input }) => input !== undefined)).length)
    if (this.#isKept) this.#go(paced)
    else this.#release(paced)
  }

  /** Work has come to an end, or a time has come. */
  deliver({ world }: DrivenWorld, input: StandardInput, enter: () => void): void {
    const paced = this.#worlds.get(this.#parts.label(world.name))
    const key = keyOf(input)
    if (!this.#isKept || paced === undefined || key === undefined) return enter()
    if ((paced.left.get(key) ?? 0) > 0 && !paced.held.has(key)) {
      paced.held.set(key, enter)
      return this.#go(paced)
    }
    // On a real clock work begins a little behind the tick that asked for it, and its deadline is later by that. And where
    // all that was recorded is over, other worlds may still have some of it to come.
    if (input.kind === 'due' || paced.next === paced.groups.length) return void this.#aside.push(enter)
    this.leave()
    enter()
  }

  ticked({ world }: DrivenWorld, { inputs }: Step): void {
    const paced = this.#worlds.get(this.#parts.label(world.name))
    if (!this.#isKept || paced === undefined) return
    for (const input of inputs) paced.awaited.delete(keyOf(input) ?? '')
    this.#go(paced)
    if (isPast(paced) && this.#isOver) this.#parts.clock.at(this.#parts.clock.now(), this.#parts.over)
  }

  get #isOver(): boolean {
    return this.#worlds.size >= this.#parts.ticks.size && [...this.#worlds.values()].every(isPast)
  }

  /** From here on the run goes its own way. False: it changes nothing. */
  leave(): boolean {
    if (!this.#isKept) return false
    this.#isKept = false
    const aside = this.#aside.splice(0)
    for (const enter of aside) enter()
    const counts = [...this.#worlds.values()].map((paced) => this.#release(paced))
    return aside.length + counts.reduce((sum, count) => sum + count, 0) > 0
  }

  /** Lets the next group in if all of it is there, once nothing is under way any more. */
  #go(paced: PacedWorld): void {
    const group = paced.groups[paced.next]
    if (paced.isTimed || paced.awaited.size > 0 || group === undefined) return
    if (!group.expected.every(({ key, input }) => input !== undefined || paced.held.has(key))) return
    const { clock } = this.#parts
    paced.isTimed = true
    clock.at(Math.max(clock.now(), paced.offsetMs + group.atMs), () => {
      paced.isTimed = false
      if (this.#isKept) this.#enter(paced, group)
    })
  }

  #enter(paced: PacedWorld, { expected }: PacedGroup): void {
    paced.next++
    for (const { key } of expected) {
      paced.awaited.add(key)
      paced.left.set(key, (paced.left.get(key) ?? 1) - 1)
    }
    for (const one of expected) {
      const enter = paced.held.get(one.key)
      paced.held.delete(one.key)
      if (one.input === undefined) enter?.()
      else {
        this.#parts.outside.send(one.key, one.input, true, () => {
          paced.awaited.delete(one.key)
          if (this.#isKept) this.#go(paced)
        })
      }
    }
  }

  /** Lets in all that is held, and all that is still to come from outside, each at its time. Gives how many. */
  #release(paced: PacedWorld): number {
    const { clock, outside } = this.#parts
    let count = 0
    for (const { atMs, expected } of paced.groups.slice(paced.next)) {
      for (const { key, input } of expected) {
        const enter = input === undefined ? paced.held.get(key) : (): void => outside.send(key, input, false)
        if (enter === undefined) continue
        paced.held.delete(key)
        count++
        clock.at(Math.max(clock.now(), paced.offsetMs + atMs), enter)
      }
    }
    paced.next = paced.groups.length
    return count
  }
}

/** An input that is to come: of itself, when work ends or a time comes, or from outside, where it is there already. */
interface ExpectedInput {
  readonly key: string
  /** From outside. */
  readonly input?: Input
}

/** What came into a world with one tick. */
interface PacedGroup {
  /** World time. */
  readonly atMs: number
  readonly expected: readonly ExpectedInput[]
}

/** What is to come into a world, tick by tick; without what parents and Runners send, which need not be waited for. */
function pacedGroups(
  label: string,
  ticks: readonly RecordedTick[],
  isOutside: (input: Input) => boolean,
): readonly PacedGroup[] {
  const settled = new Set<string>()
  return ticks.flatMap(({ tick, nowMs, inputs }, number) => {
    const expected = inputs.flatMap((input, index): readonly ExpectedInput[] => {
      const key = keyOf(input)
      if (key === undefined) {
        // What was there before the first tick belongs to the world as it is made.
        return number > 0 && isOutside(input) ? [{ key: `recorded ${label} ${tick}/${index}`, input }] : []
      }
      const effect = key.slice(key.indexOf(' '))
      // Whose outcome has come has no deadline any more.
      if (input.kind === 'due' && settled.has(effect)) return []
      if (input.kind === 'outcome') settled.add(effect)
      return [{ key }]
    })
    return expected.length === 0 ? [] : [{ atMs: nowMs, expected }]
  })
}

/** Names an input that comes of an effect; `undefined`: it does not. */
function keyOf(input: Input | StandardInput): string | undefined {
  const { kind, effect, attempt } = input as Partial<Record<string, unknown>>
  const isOwn = kind === 'outcome' || kind === 'admitted' || kind === 'due'
  return isOwn ? `${kind} ${String(effect)}/${String(attempt)}` : undefined
}
