import type { HostFactsData } from '../../protocol/host.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { TokenUsage } from '../../protocol/usage.ts'
import type { DearestRates } from '../../rules/money/call-cost.ts'
import type { ModelProvider } from '../../models/port.ts'
import { builtInProviders } from '../../models/providers.ts'
import { isMakersName, type PricedCall, Prices } from '../../models/prices.ts'
import { joinProcessPool, type PoolMembership, type SessionPool } from '../children/pool.ts'
import type { SkillDefinition } from '../children/port.ts'
import type { Tool } from '../../tools/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { approvalEffect } from './approval-effect.ts'
import { type Clock, realClock } from '../loop/clock.ts'
import { factsOf } from './host-options.ts'
import { checkHostOptions, hostDefaults, type HostOptions, type ToolChangePolicy } from './host-options.ts'
import type { EffectKind } from './effect-kind.ts'
import type { DrivenNow, DrivenStep, FurtherTools, HostSeams, TickListener } from './host-seams.ts'
import { modelEffect } from './model-effect.ts'
import { ratesEffect } from './rates-effect.ts'
import { type Begin, Slots, type SlotsNow } from './slots.ts'
import { toolEffect } from './tool-effect.ts'

/** The part of a whole that falls to one of several: how many there are, and how many of them come before it. */
export interface Share {
  readonly count: number
  readonly before: number
}

/** What agents need of a Host, as others are told of it. */
export interface Abilities {
  /** Declarations of its tools, by name. */
  readonly tools: ReadonlyMap<string, ToolDeclaration>
  /** Names of its providers. */
  readonly providers: ReadonlySet<string>
}

/** What is not data, by name: models, tools, users who approve, the clock, and the slots that work waits for. */
export class Host {
  readonly clock: Clock
  readonly seams: HostSeams
  /** The worlds that its Runners drive now, by name. The engine's own */
  readonly driven = new Map<string, DrivenNow>()
  readonly #tickListeners = new Set<TickListener>()
  readonly #further: FurtherTools
  readonly #facts: { readonly keeping: HostFactsData; readonly plain: HostFactsData }
  readonly onToolChange: ToolChangePolicy
  /** Approvals wait for inputs, which may come at any time. */
  readonly isAnsweredByInput: boolean
  readonly artifacts: string | undefined
  readonly maxRecordBytes: number
  readonly ticksPerSnapshot: number
  readonly #providers: Readonly<Record<string, ModelProvider>>
  readonly #tools = new Map<string, Tool>()
  readonly #skills = new Map<string, SkillDefinition>()
  readonly #prices: Prices
  readonly #kinds: ReadonlyMap<string, EffectKind>
  readonly #ownPool: SessionPool | undefined
  readonly #maxSessions: number | undefined
  #membership: PoolMembership | undefined
  readonly #slots: Slots
  readonly #perProvider: HostOptions['maxInFlightPerProvider']
  readonly #slotsByQueue = new Map<string, Slots>()
  #share: Share = { count: 1, before: 0 }
  #others: Abilities = { tools: new Map(), providers: new Set() }

  /**
   * @param seams where a simulation takes part. The engine's own
   * @param further tools besides those of the options. The runtime's own
   */
  constructor(options: HostOptions = {}, seams: HostSeams = {}, further: FurtherTools = {}) {
    this.seams = seams
    this.#further = further
    checkHostOptions(options)
    this.clock = options.clock ?? realClock
    this.onToolChange = options.onToolChange ?? hostDefaults.onToolChange
    this.isAnsweredByInput = options.approve === 'by-input'
    this.#providers = { ...builtInProviders(), ...options.models }
    for (const tool of options.tools ?? []) this.#addTool(tool)
    for (const skill of options.skills ?? []) this.#addSkill(skill)
    const facts = factsOf(this.#providers, options.tools ?? [], this.#skills)
    this.#facts = { plain: facts, keeping: Object.freeze({ keepsSessions: true, ...facts }) }
    this.artifacts = options.artifacts
    this.maxRecordBytes = options.maxRecordBytes ?? hostDefaults.maxRecordBytes
    this.ticksPerSnapshot = options.ticksPerSnapshot ?? hostDefaults.ticksPerSnapshot
    this.#prices = new Prices(options.prices, 'Host', (name) => isMakersName(name) || !this.#isInProcess(name))
    this.#kinds = new Map([
      ['model', modelEffect(this)],
      ['tool', toolEffect((name) => this.tool(name))],
      ['approval', approvalEffect(options.approve)],
      ['rates', ratesEffect(this)],
      // Ends by its deadline, or when its owner ends.
      ['timer', { isWaiting: true, prepare: () => undefined }],
      ...Object.entries(options.effects ?? {}),
    ])
    this.#slots = new Slots(options.maxInFlight ?? hostDefaults.maxInFlight)
    this.#perProvider = options.maxInFlightPerProvider
    this.#ownPool = options.sessionPool
    this.#maxSessions = options.maxSessions
    // Here, so that a conflicting cap is refused at once; last, so that a refused Host has not joined.
    if (this.#maxSessions !== undefined) this.#membership = joinProcessPool(this.#maxSessions)
  }

  get tools(): ReadonlyMap<string, Tool> {
    return this.#tools
  }

  /** Calls a listener after each commit. Returns a function that ends it. The inspector's own */
  onTick(listener: TickListener): () => void {
    this.#tickListeners.add(listener)
    return () => void this.#tickListeners.delete(listener)
  }

  /** What a tick is told to; `undefined`: no one hears of it, so that its changes need not be listed. */
  hearsTick(driven: () => DrivenNow): ((step: DrivenStep) => void) | undefined {
    const { ticked } = this.seams
    if (this.#tickListeners.size === 0) return ticked && ((step) => ticked(driven(), step))
    return (step) => {
      const now = driven()
      ticked?.(now, step)
      for (const listener of this.#tickListeners) listener(now, step)
    }
  }

  /** A Runner drives a world from now on. */
  began(driven: DrivenNow): void {
    this.seams.began?.(driven)
    this.driven.set(driven.world.name, driven)
  }

  ended(driven: DrivenNow): void {
    this.seams.ended?.(driven)
    this.driven.delete(driven.world.name)
  }

  /** What its Worlds know of it. @param isKept the World is kept in a store */
  facts(isKept: boolean): HostFactsData {
    return isKept ? this.#facts.keeping : this.#facts.plain
  }

  hasProvider(name: string): boolean {
    return Object.hasOwn(this.#providers, name)
  }

  /** It has the provider, or another Host of its fleet has it. */
  knowsProvider(name: string): boolean {
    return this.hasProvider(name) || this.#others.providers.has(name)
  }

  get providerNames(): readonly string[] {
    return Object.keys(this.#providers)
  }

  provider(name: string): ModelProvider {
    const provider = Object.hasOwn(this.#providers, name) ? this.#providers[name] : undefined
    if (provider !== undefined) return provider
    throw new EntiaError(
      'unknown-provider',
      `There is no model provider '${name}'. Known: ${this.providerNames.join(', ')}.`,
    )
  }

  tool(name: string): Tool | undefined {
    return this.#tools.get(name) ?? this.#further.tool?.(name)
  }

  /** How a tool is declared: as its own, else as another Host of its fleet has it. */
  declaration(name: string): ToolDeclaration | undefined {
    return this.tool(name)?.declaration ?? this.#others.tools.get(name)
  }

  /** What others of its fleet are told of it. */
  get abilities(): Abilities {
    const tools = new Map([...this.#tools].map(([name, { declaration }]) => [name, declaration]))
    return { tools, providers: new Set(this.providerNames) }
  }

  /** From now on these are what Hosts of its fleet have. What it lacks itself runs there alone. */
  learn(abilities: Abilities): void {
    this.#others = abilities
  }

  kind(name: string): EffectKind {
    const kind = this.#kinds.get(name)
    if (kind !== undefined) return kind
    throw new EntiaError(
      'missing-handler',
      `Nothing on this host does effects of kind '${name}'. Pass it in 'effects'.`,
    )
  }

  skill(name: string): SkillDefinition | undefined {
    return this.#skills.get(name)
  }

  priced(model: string, usage: TokenUsage, dateMs: number): PricedCall | Promise<PricedCall> {
    return this.#prices.priced(model, usage, dateMs)
  }

  rates(model: string, dateMs: number): Promise<DearestRates | undefined> {
    return this.#prices.rates(model, dateMs)
  }

  /** The pool that its sessions take slots from. From the first need on, the Host is on it until it is closed. */
  get sessionPool(): SessionPool {
    return this.#ownPool ?? (this.#membership ??= joinProcessPool(this.#maxSessions)).pool
  }

  /**
   * Begins work when there is a slot for it in all, and in its queue if it names one. The work of a held queue waits
   * without taking a slot.
   */
  enqueue(name: string | undefined, begin: Begin): void {
    if (name === undefined) return this.#slots.take(begin)
    const inRoom = (leaveQueue?: () => void): void =>
      this.#slots.take((leave) => {
        const leaveBoth = (): void => {
          leave()
          leaveQueue?.()
        }
        const free = leaveQueue === undefined ? leave : leaveBoth
        if (this.#slotsByQueue.get(name)?.isHeld !== true) return begin(free)
        // The queue was held while this waited for room.
        this.enqueue(name, begin)
        free()
      })
    // A queue without a limit counts nothing until it is held.
    const own = this.#maxOf(name) === undefined ? this.#slotsByQueue.get(name) : this.#slotsOf(name)
    if (own === undefined) inRoom()
    else own.take(inRoom)
  }

  /** Starts no work of a queue for so long, nor do other Hosts of a fleet. Returns the instant, on the clock, at which it continues. */
  hold(name: string, durationMs: number): number {
    // What cannot be told now, the others find out by themselves.
    void this.seams.fleet?.pause(name, durationMs).catch(() => undefined)
    return this.pause(name, durationMs)
  }

  /** The same here alone. */
  pause(name: string, durationMs: number): number {
    return this.#slotsOf(name).hold(this.clock, durationMs)
  }

  /** From now on `maxInFlightPerProvider` is what all Hosts of a fleet may have at work together, and this one has its part. */
  shareWith(share: Share): void {
    this.#share = share
    for (const [name, slots] of this.#slotsByQueue) slots.resize(this.#maxOf(name) ?? Infinity)
  }

  /** Its queues as they stand, by name: those that have a limit, or were held. The inspector's own */
  get queues(): ReadonlyMap<string, SlotsNow> {
    return new Map([...this.#slotsByQueue].map(([name, slots]) => [name, slots.now]))
  }

  /** The pool, if it is on one already. The inspector's own */
  get knownPool(): SessionPool | undefined {
    return this.#ownPool ?? this.#membership?.pool
  }

  /** Cancels all holds, so that no timer keeps the process alive, and leaves the process's session pool. */
  close(): void {
    this.#membership?.leave()
    this.#membership = undefined
    for (const slots of this.#slotsByQueue.values()) slots.cancelHold()
  }

  #isInProcess(name: string): boolean {
    return Object.hasOwn(this.#providers, name) && this.#providers[name]?.isInProcess === true
  }

  #addTool(tool: Tool): void {
    const { name } = tool.declaration
    const known = this.#tools.get(name)
    if (known === tool) return
    if (known !== undefined) throw new EntiaError('invalid-argument', `Host: two tools are called '${name}'.`)
    this.#tools.set(name, tool)
  }

  #addSkill(skill: SkillDefinition): void {
    const { name, tools = [] } = skill
    if (this.#skills.has(name)) throw new EntiaError('invalid-argument', `Host: two skills are called '${name}'.`)
    this.#skills.set(name, skill)
    for (const tool of tools) this.#addTool(tool)
  }

  #maxOf(name: string): number | undefined {
    const max = typeof this.#perProvider === 'number' ? this.#perProvider : this.#perProvider?.[name]
    if (max === undefined || max === Infinity) return max
    const { before, count } = this.#share
    // At least one, or what came here would wait for ever.
    return Math.max(1, Math.floor(max / count) + (before < max % count ? 1 : 0))
  }

  #slotsOf(name: string): Slots {
    let slots = this.#slotsByQueue.get(name)
    if (slots === undefined) this.#slotsByQueue.set(name, (slots = new Slots(this.#maxOf(name) ?? Infinity)))
    return slots
  }
}
