import type { DrivenStep, DrivenWorld } from '../../engine/effects/host-seams.ts'
import { firstSnapshot } from '../../engine/loop/journal-writer.ts'
import type { RunnerEvent } from '../../engine/loop/events.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import type { StandardInput } from '../../protocol/input.ts'
import { letterLine } from '../../protocol/letter.ts'
import { memoryStore } from '../../stores/memory.ts'
import type { SharedStore } from '../../stores/port.ts'
import type { Tool } from '../../tools/port.ts'
import { checkWakes } from '../../world/inspection.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'
import { type CheckedOptions, checkMade, checkTools, madeAnew } from '../options.ts'
import type { Missed } from '../recording/missed.ts'
import { SimulatedRun } from '../simulated-run.ts'
import { Underway } from '../simulated-work.ts'
import { FleetProcess } from './fleet-process.ts'
import type { Skew } from './fleet-clock.ts'
import { SharedState } from './shared-state.ts'
import { SimulatedBoard } from './simulated-board.ts'

/** A worker that was not heard for so long is thought dead. */
const leaseMs = 10_000
/** Delay before a process that has died is started again, in milliseconds. */
const restartMs = [0, 3_000] as const
/** All is over once nothing has been under way for so long: who was cut off or stood still has found out by then. */
const settleMs = 60_000
/** Nothing happens for so long: what is waited for does not come. */
const stallMs = 3 * 3_600_000
const lookEachMs = 1_000
const sendWithinMs = [0, 60_000] as const
const idleMs = [100, 5_000] as const
const parallelSessions = [1, 3] as const

/** One run of worlds under a seed that several processes drive together, with one store and one board between them. */
export class FleetSimulation extends SimulatedRun {
  protected readonly underway = new Underway(this.clock)
  readonly missed: readonly Missed[] = []
  readonly #state: SharedState
  readonly #board: SimulatedBoard
  /** By their places; a place is empty between the end of a process and the start of the next. */
  readonly #processes = new Map<string, FleetProcess>()
  readonly #starts = new Map<string, number>()
  /** How often the tools of a place have changed. */
  readonly #deploys = new Map<string, number>()
  readonly #rest = Promise.withResolvers<void>()
  readonly #beginnings: (() => void)[] = []
  #made: World | undefined
  #unsent = 0
  #isOver = false

  /** @param keepsTicks whether its history can be read afterwards */
  constructor(options: CheckedOptions, keepsTicks: boolean) {
    super(options, { isKept: true, keepsTicks })
    const { clock, plan, recorder } = this
    const store: SharedStore = madeStore(options)
    const date = (): number => clock.date()
    this.#board = new SimulatedBoard({
      store,
      cap: options.maxSessions,
      date,
      leaseMs,
      isHeld: (world, epoch) => this.#state.holderOf(world)?.holding === epoch,
      seize: async ({ root, sessionId }) => {
        const { journal } = await this.#state.open(sessionId, { root, seize: true, holder: 'the board' })
        await journal.close()
      },
      hearsChanges: true,
      isDoubled: () => {
        const fault = plan.strike('dispatch', plan.next('line', 'giving'), (what) => what === 'dispatch.twice')
        if (fault !== undefined) recorder.struck(fault)
        return fault !== undefined
      },
      pool: (event) => recorder.ask('pool', event),
      told: (event) => recorder.ask('board', event),
    })
    this.#state = new SharedState({
      store,
      clock,
      isAlive: (worker) => this.#board.presence.isAlive(worker),
      told: (event) => recorder.ask('store', event),
      onChange: () => this.#board.changed(),
    })
  }

  get world(): World {
    const [first = ''] = this.#roots
    return this.recorder.worlds.get(first)?.world ?? (this.#made as World)
  }

  get #roots(): readonly string[] {
    const { letters } = this.options
    return letters.length > 0 ? letters.map(({ to }) => to) : [(this.#made as World).name]
  }

  protected begin(): void {
    const { letters } = this.options
    this.#made = this.#make(letters[0]?.to)
  }

  protected async live(): Promise<void> {
    const { options, recorder } = this
    this.clock.begin()
    if (options.letters.length === 0) await this.#place(this.#made as World)
    for (let number = 1; number <= options.processes; number++) this.#start(`p${number}`)
    this.users.resume()
    this.#sendLetters()
    this.#lookLater({ progress: -1, sinceMs: 0, restMs: undefined })
    this.clock.end()
    await Promise.race([this.#rest.promise, recorder.broken])
    if (recorder.violation !== undefined) return
    recorder.ask('atRest', await this.#counted(() => this.#state.atRest((name, root) => this.#hasEnded(name, root))))
    this.#isOver = true
    await Promise.race([Promise.all([...this.#processes.values()].map((each) => each.stop())), recorder.broken])
  }

  protected async end(): Promise<void> {
    this.#isOver = true
    for (const process of this.#processes.values()) process.kill()
  }

  /** There is always something due: that nothing happens is looked for. */
  protected whenQuiet(): void {}

  protected rootOf({ path, world }: RunnerEvent & { readonly path?: unknown }): World | undefined {
    return path === undefined ? this.recorder.worlds.get(world)?.world : undefined
  }

  /** A letter: an answer goes to the world that has asked, all else to its root. */
  protected async post(input: StandardInput, id: string, of: string): Promise<void> {
    const root = this.#state.rootOf(of)
    const world = input.kind === 'answer' ? of : root
    const line = letterLine({ input: { ...input, id } })
    await this.#counted(() => this.#state.post({ root, world, line, id }))
  }

  /** Whoever holds the world makes it, again if its process ends before that is committed. */
  protected async change(change: (world: World) => void, of: string): Promise<void> {
    const root = this.#state.rootOf(of)
    for (;;) {
      const [runner, process] = await this.#holderOf(root)
      let hasThrown = false
      const made = (world: World): void => {
        hasThrown = true
        change(world)
        hasThrown = false
      }
      const done = runner.change(made).then(
        () => true,
        () => hasThrown,
      )
      if (await Promise.race([done, process.dead.then(() => false)])) return
      await this.#later()
    }
  }

  #later(): Promise<void> {
    return new Promise((resolve) => void this.clock.at(this.nowMs + lookEachMs, resolve))
  }

  async #holderOf(root: string): Promise<readonly [Runner, FleetProcess]> {
    for (;;) {
      for (const process of this.#processes.values()) {
        const runner = process.runner(root)
        if (runner !== undefined) return [runner, process]
      }
      const began = new Promise<void>((resolve) => this.#beginnings.push(resolve))
      await this.#counted(() => this.#wake(root))
      // Who keeps it from being woken may be about to park it.
      await Promise.race([began, this.#later()])
    }
  }

  /** A world that nobody living holds is due at once. */
  async #wake(root: string): Promise<void> {
    try {
      const { journal } = await this.#state.open(root, { holder: 'outside' })
      await journal.close({ wakeAtMs: 0 })
      this.#state.changed()
    } catch (error) {
      if (!(error instanceof EntiaError) || error.code !== 'world-locked') throw error
    }
  }

  async #counted<T>(act: () => Promise<T>): Promise<T> {
    this.clock.begin()
    try {
      return await act()
    } finally {
      this.clock.end()
    }
  }

  /** The worlds of letters have seeds of their own: ids of sessions follow from them. */
  #make(name?: string): World {
    const { letters, seed, world } = this.options
    if (name === undefined || letters.length === 0) return madeAnew(world(seed))
    return madeAnew(world(this.chance.within([0, 2 ** 31], `seed of ${name}`), name))
  }

  async #place(world: World): Promise<void> {
    const journal = await this.#state.store.open(world.name, { holder: 'outside' })
    await journal.commit(firstSnapshot(world))
    await journal.close({ wakeAtMs: 0 })
  }

  #sendLetters(): void {
    const { arrivals, options, plan } = this
    for (const [index, { atMs, say, to }] of options.letters.entries()) {
      const id = `letter ${index + 1}`
      const at = plan.next(to, 'letter')
      const message = { role: 'user' as const, content: [{ type: 'text' as const, text: say }] }
      const line = letterLine({ input: { kind: 'message', message, id } })
      this.#unsent++
      this.clock.at(atMs ?? arrivals.delayMs(sendWithinMs, at, id), () => {
        void this.#counted(() => this.#state.post({ world: to, line, id })).then(() => this.#unsent--)
      })
    }
  }

  #start(name: string): void {
    const { arrivals, chance, options, plan, recorder } = this
    const starts = (this.#starts.get(name) ?? 0) + 1
    this.#starts.set(name, starts)
    const made = starts === 1 && name === 'p1' && this.#made !== undefined ? this.#made : this.#make(this.#roots[0])
    const skew = this.#skew(name)
    const process = new FleetProcess({
      options,
      plan,
      arrivals,
      chance,
      name,
      worker: `${name}.${starts}`,
      shared: this.clock,
      skew,
      state: this.#state,
      board: this.#board,
      recorder,
      underway: this.underway,
      tools: this.#tools(name),
      known: made,
      components: this.componentsOf(made),
      maxSessions: chance.within(parallelSessions, `${name} start ${starts} sessions`),
      idleMs: chance.within(idleMs, `${name} start ${starts} idle`),
      make: (root) => this.#make(root),
      newRun: () => undefined,
      usedReal: (use) => this.usedReal(use),
      began: (driven) => {
        checkWakes(driven.world, this.checksWakes)
        recorder.began(driven)
        for (const began of this.#beginnings.splice(0)) began()
      },
      ticked: (driven, step) => {
        recorder.ticked(driven, step)
        this.#see(driven, step)
        if (driven.path.length === 0) this.users.ticked(driven.world)
      },
      deploy: (each) => void this.#deploy(each),
    })
    recorder.process(name, 'process-started', { worker: process.worker })
    this.#processes.set(name, process)
    void this.#whenDead(process)
    process.start()
  }

  /** Users follow what is in the store: the process that has written it may tell nobody. */
  #see({ path, world: { dateMs, name, nowMs, tick } }: DrivenWorld, { events }: DrivenStep): void {
    const place = path.length === 0 ? {} : { path }
    for (const [index, event] of events.entries()) {
      this.users.see({ ...event, ...place, world: name, tick, index, nowMs, dateMs })
    }
  }

  async #whenDead(process: FleetProcess): Promise<void> {
    const fault = await process.dead
    this.recorder.struck(fault)
    this.recorder.crashed(fault.what, process.name)
    if (!process.isStopping) this.#startLater(process)
  }

  #startLater(process: FleetProcess): void {
    if (this.#processes.get(process.name) === process) this.#processes.delete(process.name)
    const { name } = process
    const afterMs = this.chance.within(restartMs, `restart ${name} ${this.#starts.get(name)}`)
    this.clock.at(this.nowMs + afterMs, () => {
      if (!this.#isOver && !this.#processes.has(name)) this.#start(name)
    })
  }

  /** Replaces a process by one whose tools have changed. */
  async #deploy(process: FleetProcess): Promise<void> {
    if (process.isStopping || this.#isOver) return
    const { name } = process
    this.#deploys.set(name, (this.#deploys.get(name) ?? 0) + 1)
    this.recorder.process(name, 'process-replaced')
    await process.stop()
    if (!this.#isOver) this.#startLater(process)
  }

  #tools(name: string): readonly Tool[] {
    const { options, services } = this
    const tools = typeof options.tools === 'function' ? options.tools(services) : options.tools
    checkTools(tools)
    const version = this.#deploys.get(name)
    if (version === undefined) return tools
    return tools.map((tool) => {
      const { declaration } = tool
      const description = `${declaration.description} (version ${version + 1})`
      return { ...tool, call: (...given) => tool.call(...given), declaration: { ...declaration, description } }
    })
  }

  #skew(name: string): Skew {
    const { chance, plan, recorder } = this
    const at = plan.next(name, 'start')
    const fault = plan.strike('clock', at)
    if (fault === undefined) return { offsetMs: 0, rate: 1 }
    recorder.struck(fault)
    const half = hourMs
    return { offsetMs: (fault.ms ?? 0) - half, rate: 0.8 + chance.of(`${at} rate`) / 2 }
  }

  #hasEnded(name: string, root: string): boolean {
    return name !== root && !this.#board.unfinished.some((order) => order.root === root && order.sessionId === name)
  }

  #lookLater(before: Look): void {
    this.clock.at(this.nowMs + lookEachMs, () => {
      if (this.#isOver || this.recorder.violation !== undefined) return
      void this.#counted(() => this.#look(before))
    })
  }

  async #look({ progress: seen, restMs, sinceMs }: Look): Promise<void> {
    const { nowMs, recorder } = this
    const { progress } = recorder
    const isMoving = progress !== seen
    const since = isMoving ? nowMs : sinceMs
    const isAtRest = await this.#isAtRest()
    const rest = isAtRest && !isMoving ? (restMs ?? nowMs) : undefined
    this.plan.isQuiet = rest !== undefined
    if (rest !== undefined && nowMs - rest >= settleMs) return this.#rest.resolve()
    if (nowMs - since >= stallMs) return recorder.neverIdle(`Nothing has happened for ${stallMs / 3_600_000} hours`)
    if (nowMs >= this.options.bounds.maxVirtualMs) return recorder.neverIdle('bounds.maxVirtualMs')
    this.#lookLater({ progress, sinceMs: since, restMs: rest })
  }

  /** Nothing is on its way, in line or held; no root world is at work or has letters. */
  async #isAtRest(): Promise<boolean> {
    if (this.#unsent > 0 || this.users.isBusy || this.#board.unfinished.length > 0) return false
    const worlds = await this.#board.worlds()
    return worlds.every(({ isBusy, letters, root }) => root !== undefined || (isBusy !== true && letters === undefined))
  }
}

const hourMs = 3_600_000

interface Look {
  readonly progress: number
  /** The last that anything has happened. */
  readonly sinceMs: number
  /** Since when nothing is under way; `undefined`: something is. */
  readonly restMs: number | undefined
}

function madeStore({ store }: CheckedOptions): SharedStore {
  if (store === undefined || store === 'none') return memoryStore()
  return checkMade('store', store() as SharedStore, ['open', 'list', 'post', 'on', 'rows', 'ticks'])
}
