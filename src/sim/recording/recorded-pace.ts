import type { StandardInput } from '../../protocol/input.ts'
import type { DrivenWorld } from '../../engine/effects/host-seams.ts'
import type { VirtualClock } from '../../engine/loop/virtual-clock.ts'
import type { Step } from '../../world/journal.ts'
import type { OutsideInputs } from './outside-inputs.ts'
import type { RecordedTick } from './recorded-answers.ts'
import type { Input } from '../../world/input.ts'

interface PaceParts {
  readonly ticks: ReadonlyMap<string, readonly RecordedTick[]>
  readonly clock: VirtualClock
  readonly label: (world: string) => string
  readonly outside: OutsideInputs
  /** False: inputs arrive at their own time from the start. */
  readonly isKept: boolean
  readonly over: () => void
}

interface PacedWorld {
  readonly groups: readonly PacedGroup[]
  next: number
  /** How far its time is behind the clock. */
  offsetMs: number
  /** How often each input is still expected, by key. */
  readonly left: Map<string, number>
  /** Inputs that wait for their tick, by key. */
  readonly held: Map<string, () => void>
  /** Inputs of the last group that are not in the world yet. */
  readonly awaited: Set<string>
  isTimed: boolean
}

function isPast({ groups, next, awaited }: PacedWorld): boolean {
  return next === groups.length && awaited.size === 0
}

/**
 * Keeps a replay in step with its recording: inputs of one tick arrive in one tick again, at its time and in its order,
 * so that a run on a real clock is reproduced on a virtual one. Stops where the replay diverges.
 */
export class RecordedPace {
  readonly #parts: PaceParts
  readonly #worlds = new Map<string, PacedWorld>()
  #isKept: boolean
  /** Inputs that the recorded run did not have, held until it is over. */
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

  deliver({ world }: DrivenWorld, input: StandardInput, enter: () => void): void {
    const paced = this.#worlds.get(this.#parts.label(world.name))
    const key = keyOf(input)
    if (!this.#isKept || paced === undefined || key === undefined) return enter()
    if ((paced.left.get(key) ?? 0) > 0 && !paced.held.has(key)) {
      paced.held.set(key, enter)
      return this.#go(paced)
    }
    // On a real clock work, and so its deadline, starts a little after its tick. And when this world's recording is
    // over, other worlds may still have inputs to come.
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

  /** Stops pacing. False: that changes nothing. */
  leave(): boolean {
    if (!this.#isKept) return false
    this.#isKept = false
    const aside = this.#aside.splice(0)
    for (const enter of aside) enter()
    const counts = [...this.#worlds.values()].map((paced) => this.#release(paced))
    return aside.length + counts.reduce((sum, count) => sum + count, 0) > 0
  }

  /** Lets the next group in when it is complete and nothing is in flight. */
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

  /** Releases held inputs and pending ones from outside, each at its time. Returns how many. */
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

/** An expected input: work that ends, a timer that fires, or a given input from outside. */
interface ExpectedInput {
  readonly key: string
  readonly input?: Input
}

interface PacedGroup {
  readonly atMs: number
  readonly expected: readonly ExpectedInput[]
}

/** The expected inputs of a world by tick, without those of parents and Runners, which need no waiting. */
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
        // Inputs before the first tick belong to the world as it is made.
        return number > 0 && isOutside(input) ? [{ key: `recorded ${label} ${tick}/${index}`, input }] : []
      }
      const effect = key.slice(key.indexOf(' '))
      // A settled effect has no deadline.
      if (input.kind === 'due' && settled.has(effect)) return []
      if (input.kind === 'outcome') settled.add(effect)
      return [{ key }]
    })
    return expected.length === 0 ? [] : [{ atMs: nowMs, expected }]
  })
}

/** Names an input of an effect; `undefined` for others. */
function keyOf(input: Input | StandardInput): string | undefined {
  const { kind, effect, attempt, ordinal } = input as Partial<Record<string, unknown>>
  const isOwn = kind === 'outcome' || kind === 'admitted' || kind === 'due' || kind === 'handle-kept'
  if (!isOwn) return undefined
  const place = `${kind} ${String(effect)}/${String(attempt)}`
  return kind === 'handle-kept' ? `${place} ${String(ordinal)}` : place
}
