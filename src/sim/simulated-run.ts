import { tokensOf } from '../world/restore.ts'
import { VirtualClock } from '../engine/loop/virtual-clock.ts'
import type { RunnerEvent } from '../engine/loop/events.ts'
import { withStandard } from '../engine/loop/with-standard.ts'
import { lastWords } from '../rules/projection/text-of.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import type { StandardInput } from '../protocol/input.ts'
import type { Component } from '../world/component.ts'
import { knownComponents } from '../world/inspection.ts'
import type { World } from '../world/world.ts'
import { Arrivals } from './arrivals.ts'
import { Chance } from './chance.ts'
import { type Fault, type FaultRates, usualRates } from './fault.ts'
import { FaultPlan } from './fault-plan.ts'
import { factsOf } from './law.ts'
import type { CheckedOptions } from './options.ts'
import { type RealUse, watchRealUse, watchStandstill } from './real-use.ts'
import type { Missed } from './recording/missed.ts'
import type { RunningService } from './service.ts'
import { SimulatedUsers } from './simulated-users.ts'
import type { Underway } from './simulated-work.ts'
import { RunRecorder } from './run-recorder.ts'

export interface RunParts {
  readonly dateMs?: number | undefined
  readonly isKept: boolean
  /** Whether its history can be read afterwards. */
  readonly keepsTicks: boolean
}

/** What a run under a seed has, however many processes drive its worlds: dice, a clock, faults, users, services, laws. */
export abstract class SimulatedRun {
  readonly options: CheckedOptions
  readonly isKept: boolean
  readonly plan: FaultPlan
  readonly recorder: RunRecorder
  readonly services: Readonly<Record<string, RunningService<unknown, never, unknown>>>
  readonly realUses: RealUse[] = []
  /** Systems that sleep run as well, and may do nothing. A run then takes half as long again. */
  protected readonly checksWakes: boolean
  protected readonly chance: Chance
  protected readonly arrivals: Arrivals
  protected readonly clock: VirtualClock
  protected readonly users: SimulatedUsers

  constructor(options: CheckedOptions, { dateMs = firstDateMs, isKept, keepsTicks }: RunParts) {
    this.options = options
    this.isKept = isKept
    const { faults, maxSessions, processes, seed, services, thorough } = options
    this.checksWakes = thorough || seed % seedsPerWakesCheck === 1
    const chance = (this.chance = new Chance(seed))
    const plan = (this.plan = new FaultPlan(chance, faults, usualIn(options)))
    const running = Object.entries(services).map(([name, each]) => [name, each.start(chance, name)] as const)
    this.services = Object.fromEntries(running)
    const clock = new VirtualClock({
      dateMs,
      whenQuiet: () => this.whenQuiet(),
      together: (waitMs) => this.arrivals.comeTogether(waitMs),
      stepsWithoutTurn: 64,
    })
    this.clock = clock
    const states = running.map(([name, { state }]) => [name, state] as const)
    const ofServices = Object.fromEntries(states)
    const facts = factsOf({ seed, maxSessions, processes, isKept, isThorough: thorough, services: ofServices })
    this.recorder = new RunRecorder(options, facts, { now: () => clock.now(), keepsTicks })
    const struck = (fault: Fault): void => this.recorder.struck(fault)
    const arrivals = (this.arrivals = new Arrivals({ chance, plan, clock, struck }))
    this.users = new SimulatedUsers({
      users: options.users,
      arrivals,
      chance,
      clock,
      plan,
      post: (input, id, of) => this.post(input, id, of),
      change: (change, of) => this.change(change, of),
      recorder: this.recorder,
      textOf: (event) => this.#textOf(event),
      usedReal: (use) => this.usedReal(use),
    })
  }

  abstract get world(): World
  abstract get missed(): readonly Missed[]
  /** Real work that neither ended nor sleeps. */
  protected abstract readonly underway: Underway

  get nowMs(): number {
    return this.clock.now()
  }

  /** Runs until all is over, or a law is broken. */
  async run(): Promise<void> {
    const { recorder } = this
    this.begin()
    const endWatch = watchRealUse({
      running: () => recorder.runningSystem,
      tell: (use) => this.usedReal(use, 'the world: world.nowMs, world.dateMs, world.random() or world.newId()'),
    })
    const progress = (): number => recorder.progress + this.nowMs
    const endStandstill = watchStandstill(progress, () => this.#stands(), this.options.bounds.maxStallMs)
    try {
      await this.live()
      recorder.ask('finished', recorder.worlds)
      this.#faultsStruck()
    } finally {
      endStandstill()
      endWatch()
      await this.end()
    }
  }

  protected abstract begin(): void
  protected abstract live(): Promise<void>
  protected abstract end(): Promise<void>
  protected abstract whenQuiet(): void
  protected abstract post(input: StandardInput, id: string, of: string): Promise<void>
  protected abstract change(change: (world: World) => void, of: string): Promise<void>
  protected abstract rootOf(event: RunnerEvent): World | undefined

  protected componentsOf(world: World): readonly Component[] {
    return withStandard([...tokensOf(this.options.components ?? []), ...knownComponents(world).values()])
  }

  /** @param source where to get a reproducible value instead */
  protected usedReal(use: RealUse, source = "the tool's context or a service"): void {
    if (this.realUses.some(({ name, used }) => name === use.name && used === use.used)) return
    this.realUses.push(use)
    if (this.options.realUse === 'list') return
    const advice = `Take what must be the same in every run from ${source}, or pass realUse: 'list'`
    this.#isReal(`${use.name} used ${use.used}. ${advice}.`)
  }

  /** A listed fault that found no place tests nothing: the run differs from the one it was pasted from. */
  #faultsStruck(): void {
    const { plan, recorder } = this
    const [missed] = plan.missed
    if (missed === undefined || recorder.violation !== undefined) return
    const { what, at } = missed
    const others = plan.missed.length > 1 ? ` (and ${plan.missed.length - 1} more)` : ''
    const end = `The run ended after ${recorder.ticks} ticks and ${recorder.crashes} crashes`
    const advice = 'Take it out of `faults`, or make the list again from a run that fails.'
    const message = `${what} at '${at}'${others} struck nowhere. ${end}, ${plan.reached(at)}. ${advice}`
    recorder.break('faults-strike', 'Every fault of a list strikes.', message)
  }

  /** Names work that takes real time, since no seed decides how long it takes. */
  #stands(): void {
    const { names } = this.underway
    const who = names.length > 0 ? names.join(', ') : 'something that is neither a tool nor a model'
    this.#isReal(`${who} took more than ${this.options.bounds.maxStallMs} ms of real time (bounds.maxStallMs).`)
  }

  #isReal(message: string): void {
    const meaning = 'Nothing in a simulation takes real time, or looks at the real clock, or throws real dice.'
    this.recorder.break('real-time-in-simulation', meaning, message)
  }

  #textOf(event: RunnerEvent): string | undefined {
    const { agent } = event as { readonly agent?: unknown }
    const root = this.rootOf(event)
    return typeof agent === 'number' && root?.has(agent, Conversation) === true ? lastWords(root, agent) : undefined
  }
}

const seedsPerWakesCheck = 8

/** The pace of a recorded run is that of its recording. */
function usualIn({ processes, recording }: CheckedOptions): FaultRates {
  if (recording !== undefined) return {}
  return processes === 1 ? usualRates : { ...usualRates, store: {} }
}

/** 1 January 2030. */
const firstDateMs = 1_893_456_000_000
