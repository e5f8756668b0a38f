import type { RunnerEvent } from '../engine/loop/events.ts'
import type { StandardInput } from '../protocol/input.ts'
import { memoryStore } from '../stores/memory.ts'
import type { Store } from '../stores/port.ts'
import { thrownMessage } from '../base/thrown-message.ts'
import { EntiaError } from '../base/entia-error.ts'
import { checkWakes } from '../world/inspection.ts'
import type { World } from '../world/world.ts'
import { isList } from './fault-plan.ts'
import { type CheckedOptions, checkMade, checkTools, madeAnew } from './options.ts'
import type { Missed } from './recording/missed.ts'
import { type RecordedStart, recordedStart } from './recording/recorded-answers.ts'
import { ReplayedRun } from './recording/replayed-run.ts'
import { SimulatedProcess } from './simulated-process.ts'
import { SimulatedRun } from './simulated-run.ts'
import { Underway } from './simulated-work.ts'

/** One run of a world under a seed, through all its crashes: one process after another drives it. */
export class Simulation extends SimulatedRun {
  protected readonly underway = new Underway()
  readonly #store: Store | undefined
  readonly #disk = { fullUntilMs: 0 }
  #process: SimulatedProcess | undefined
  #replayed: ReplayedRun | undefined
  readonly #recorded: RecordedStart | undefined
  /** The root world as made for the current process, which owns its systems. */
  #made: World | undefined
  #name = ''

  /** @param keepsTicks whether its history can be read afterwards */
  constructor(options: CheckedOptions, keepsTicks: boolean) {
    const { faults, recording } = options
    const recorded = recording && recordedStart(recording)
    // Which faults are left out must not decide about the store: a shrunk run would differ.
    const needsStore = isList(faults) || Object.keys(faults).length > 0 || recording !== undefined
    const make = options.store ?? (needsStore ? memoryStore : 'none')
    const store = make === 'none' ? undefined : checkMade('store', make(), ['open', 'list'])
    super(options, { dateMs: recorded?.dateMs, isKept: store !== undefined, keepsTicks })
    this.#recorded = recorded
    this.#store = store
  }

  get missed(): readonly Missed[] {
    return this.#replayed?.missed ?? []
  }

  get world(): World {
    return this.recorder.worlds.get(this.#name)?.world ?? (this.#made as World)
  }

  protected begin(): void {
    this.#made = this.#make()
    this.#name = this.#made.name
    this.#replayed = this.#replay(this.#made)
  }

  protected async live(): Promise<void> {
    while (this.recorder.violation === undefined && !(await this.#live()));
  }

  protected async end(): Promise<void> {
    await this.#process?.kill()
  }

  /** One life of the process. True: the run is over. */
  async #live(): Promise<boolean> {
    const { recorder } = this
    const process = this.#start()
    this.#process = process
    const ended = this.#idle(process).then(
      () => undefined,
      (error: unknown) => error as Error,
    )
    let end = await Promise.race([ended, process.dead, recorder.broken])
    if (recorder.violation !== undefined) return true
    if (end === undefined) {
      if (process.doom === undefined) await Promise.race([process.stop(), process.dead])
      // Its last write may have killed it.
      end = process.doom
      if (end === undefined) return true
    }
    await process.kill()
    if ('what' in end) recorder.struck(end)
    else if (!isStoreFailure(end)) {
      recorder.break('runner-goes-on', 'A Runner fails only if its store does.', thrownMessage(end))
    }
    this.users.pause()
    recorder.crashed('what' in end ? end.what : thrownMessage(end))
    const restartsMs = this.nowMs + this.chance.within(restartMs, `restart ${recorder.crashes}`)
    await new Promise<void>((resolve) => void this.clock.at(restartsMs, resolve))
    return false
  }

  #start(): SimulatedProcess {
    const { options, plan, services, recorder } = this
    // State in closures of systems and tools dies with the process.
    if (recorder.crashes > 0) this.#made = this.#make()
    const world = this.#made as World
    const tools = typeof options.tools === 'function' ? options.tools(services) : options.tools
    checkTools(tools)
    return new SimulatedProcess({
      options,
      plan,
      tools,
      name: this.#name,
      world,
      arrivals: this.arrivals,
      chance: this.chance,
      clock: this.clock,
      store: this.#store,
      disk: this.#disk,
      underway: this.underway,
      components: () => this.componentsOf(world),
      replayed: this.#replayed,
      recorder,
      usedReal: (use) => this.usedReal(use),
      heard: (event) => this.users.see(event),
      seams: {
        newRun: () => this.#recorded?.run,
        began: (driven) => {
          checkWakes(driven.world, this.checksWakes)
          recorder.began(driven)
        },
        ended: (driven) => recorder.ended(driven),
        held: (holder) => recorder.ask('held', holder),
        removed: (holder) => recorder.ask('removed', holder),
        ticked: (driven, step) => {
          recorder.ticked(driven, step)
          if (driven.path.length === 0) this.users.ticked(driven.world)
        },
      },
    })
  }

  /** Session ids are made from a world's seed and run: those of a recording reproduce its ids. */
  #make(): World {
    const { recording, seed, world } = this.options
    return madeAnew(world(recording?.seed ?? seed))
  }

  #replay(world: World): ReplayedRun | undefined {
    const { recorder } = this
    const { faults, onMiss, users, recording } = this.options
    if (recording === undefined) return undefined
    const meaning = 'What a replayed run asks for, its recording has an answer to.'
    return new ReplayedRun({
      recording,
      onMiss,
      world,
      components: this.componentsOf(world),
      clock: this.clock,
      label: (name) => recorder.labels.named(name),
      runner: () => this.#process?.runner,
      hasUsers: Object.keys(users).length > 0,
      hasFaults: isList(faults) ? faults.length > 0 : Object.keys(faults).length > 0,
      broke: (message, label) => recorder.break('replay-mismatch', meaning, message, label),
    })
  }

  /** Resolves once the world and the users have nothing left to do. */
  async #idle(process: SimulatedProcess): Promise<void> {
    await process.start()
    this.users.resume()
    const outside = this.#replayed?.outside
    outside?.resume()
    await process.runner?.idle()
    const isBusy = (): boolean => this.users.isBusy || outside?.isBusy === true || process.isExpecting
    while (isBusy()) {
      await this.users.quiet()
      await Promise.all([outside?.quiet(), process.arrival()])
      await process.runner?.idle()
    }
  }

  /** Nothing is due or at work. Unless the run is idle, something waits forever. */
  protected whenQuiet(): void {
    const { recorder } = this
    const runner = this.#process?.runner
    if (runner === undefined || recorder.violation !== undefined || this.#replayed?.goOn() === true) return
    let isIdle = false
    const idle = (): boolean => (isIdle = true)
    runner.idle().then(idle, idle)
    const before = recorder.progress
    const look = (): void => {
      if (isIdle || before !== recorder.progress || this.#process?.runner !== runner) return
      recorder.neverIdle('Nothing is at work, and nothing is due')
    }
    setImmediate(() => setImmediate(look))
  }

  protected rootOf({ world }: RunnerEvent): World | undefined {
    return world === this.#name ? this.world : undefined
  }

  protected async change(change: (world: World) => void): Promise<void> {
    const runner = this.#process?.runner
    if (runner === undefined) await new Promise(() => undefined)
    let hasThrown = false
    const made = (world: World): void => {
      hasThrown = true
      change(world)
      hasThrown = false
    }
    await runner?.change(made).catch((error: unknown) => {
      if (!hasThrown) throw error
    })
  }

  protected async post(input: StandardInput, id: string): Promise<void> {
    const runner = this.#process?.runner
    if (runner !== undefined) await runner.post(input, { id })
    else await new Promise(() => undefined)
  }
}

/** Delay before a dead process restarts, in milliseconds. */
const restartMs = [0, 3_000] as const

function isStoreFailure(error: unknown): boolean {
  return error instanceof EntiaError && error.code === 'store-failed'
}
