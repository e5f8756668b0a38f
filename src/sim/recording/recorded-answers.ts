import { Effect, OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import { HostFacts } from '../../../components/agent/host-facts.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import type { InputOf, StandardInput } from '../../protocol/input.ts'
import { interrupted } from '../../../systems/agent/restart.ts'
import type { Component, Entity } from '../../world/component.ts'
import type { Input } from '../../world/input.ts'
import type { Step } from '../../world/journal.ts'
import { redo } from '../../world/inspection.ts'
import type { World } from '../../world/world.ts'
import { type Asked, askedBy, isAnswered } from './asked.ts'
import { type CallPlace, type RecordedCall, StepCounter } from './answer-book.ts'
import { RecordedWorld, recordedWorlds } from '../../engine/recording/recorded-worlds.ts'
import type { Recording } from '../../engine/recording/recording.ts'

export interface RecordedTick {
  readonly tick: number
  readonly nowMs: number
  readonly inputs: readonly Input[]
}

export interface RecordedAnswers {
  /** By world, in the order of their start. */
  readonly calls: readonly RecordedCall[]
  readonly ticks: ReadonlyMap<string, readonly RecordedTick[]>
  /** What the worlds knew of their Host. */
  readonly facts: HostFactsData | undefined
}

/**
 * Reads the requests and answers of a recorded run. Applies the recorded changes, so the systems do not matter. @throws
 * `corrupt-journal`, and what restoring throws
 */
export function recordedAnswers(
  saved: Recording,
  { components }: { readonly components: Iterable<Component> },
): RecordedAnswers {
  const calls: RecordedCall[] = []
  const ticks = new Map<string, readonly RecordedTick[]>()
  const steps = new StepCounter()
  let facts: HostFactsData | undefined
  for (const { recorded, label, world } of recordedWorlds(saved, components)) {
    const reader = new WorldReader(world, label, steps)
    ticks.set(
      label,
      Array.from(recorded.steps(), (step) => reader.read(step)),
    )
    calls.push(...reader.end())
    facts ??= world.entitiesWith(HostFacts).map((host) => world.read(host, HostFacts))[0]
  }
  return { calls, ticks, facts }
}

interface OpenCall extends CallPlace {
  readonly asked: Asked
  beganMs: number
  endedMs: number
  readonly kept: { readonly input: InputOf<'handle-kept'>; readonly atMs: number }[]
  outcome: RecordedCall['outcome']
}

/** Reads the ticks of one world, and collects the calls that start and end in them. */
class WorldReader {
  readonly #label: string
  readonly #world: World
  readonly #steps: StepCounter
  readonly #calls: OpenCall[] = []
  readonly #open = new Map<Entity, OpenCall>()

  constructor(world: World, label: string, steps: StepCounter) {
    this.#label = label
    this.#world = world
    this.#steps = steps
    for (const effect of world.entitiesWith(Pending)) this.#begin(effect)
  }

  read({ inputs, delta }: Step): RecordedTick {
    const { tick, nowMs } = delta
    const taken = inputs.flatMap((input): readonly Input[] => (input.kind === 'started' ? this.#interrupt() : [input]))
    for (const input of taken) this.#take(input as StandardInput, nowMs)
    redo(this.#world, delta, delta)
    for (const effect of this.#open.keys()) this.#look(effect)
    const { [Effect.name]: written = [], [Pending.name]: pending = [] } = delta.set ?? {}
    const begun = new Set([...written, ...pending].map(([effect]) => effect))
    for (const effect of [...begun].toSorted((a, b) => a - b)) {
      if (this.#world.has(effect, Pending)) this.#begin(effect)
    }
    return { tick, nowMs, inputs: taken }
  }

  end(): readonly RecordedCall[] {
    return this.#calls.map(({ beganMs, endedMs, kept, ...call }) => ({
      ...call,
      kept: kept.map(({ atMs, input }) => ({ input, latencyMs: Math.max(0, atMs - beganMs) })),
      latencyMs: Math.max(0, endedMs - beganMs),
    }))
  }

  #begin(effect: Entity): void {
    const world = this.#world
    const { attempt, kind } = world.read(effect, Effect)
    if (!isAnswered(kind) || this.#open.get(effect)?.attempt === attempt) return
    const agent = world.get(effect, OwnedBy)?.agent
    const label = this.#label
    const step = this.#steps.stepOf(label, agent, kind, effect)
    const asked = askedBy(world, effect)
    const { nowMs } = world
    const times = { beganMs: nowMs, endedMs: nowMs }
    const call: OpenCall = { label, agent, step, attempt, asked, ...times, kept: [], outcome: 'cut-off' }
    this.#calls.push(call)
    this.#open.set(effect, call)
  }

  #take(input: StandardInput, nowMs: number): void {
    if (input.kind !== 'outcome' && input.kind !== 'admitted' && input.kind !== 'handle-kept') return
    const call = this.#open.get(input.effect)
    if (call === undefined || call.attempt !== input.attempt) return
    if (input.kind === 'admitted') call.beganMs = nowMs
    else if (input.kind === 'handle-kept') call.kept.push({ atMs: nowMs, input })
    else this.#close(input.effect, call, input.outcome, nowMs)
  }

  /** An effect that neither waits nor runs was settled without an outcome of its own. */
  #look(effect: Entity): void {
    const world = this.#world
    const call = this.#open.get(effect)
    if (call === undefined || world.has(effect, Running)) return
    if (world.has(effect, Pending) && world.read(effect, Effect).attempt === call.attempt) return
    this.#close(effect, call, 'called-off', world.nowMs)
  }

  #close(effect: Entity, call: OpenCall, outcome: OutcomeData | 'called-off', nowMs: number): void {
    call.outcome = outcome
    call.endedMs = nowMs
    this.#open.delete(effect)
  }

  /** A restarted process found these running. A replay has one process: for it, they end as interrupted. */
  #interrupt(): readonly Input[] {
    const world = this.#world
    const found = world.entitiesWith(Running).filter((effect) => {
      return world.read(effect, Effect).restart !== 'resumable'
    })
    return found.map((effect) => {
      const { attempt } = world.read(effect, Effect)
      return { kind: 'outcome', effect, attempt, outcome: interrupted }
    })
  }
}

export interface RecordedStart {
  /** Unix time of the start; `undefined`: unknown. */
  readonly dateMs: number | undefined
  /** Goes into the ids, with name and seed. */
  readonly run: string | undefined
}

/** @throws `corrupt-journal`, `corrupt-snapshot` */
export function recordedStart({ worlds }: Recording): RecordedStart {
  const [root] = worlds
  if (root === undefined) return { dateMs: undefined, run: undefined }
  const recorded = new RecordedWorld(root)
  for (const { inputs, delta } of recorded.steps()) {
    const started = inputs.find((input) => input.kind === 'started')
    if (started !== undefined) return { dateMs: started['dateMs'] as number, run: delta.run }
  }
  return { dateMs: undefined, run: recorded.head.header.run }
}
