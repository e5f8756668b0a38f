import type { HostFactsData } from '../../protocol/host.ts'
import type { TokenUsage } from '../../protocol/usage.ts'
import type { DearestRates } from '../../rules/money/call-cost.ts'
import type { ModelProvider } from '../../models/port.ts'
import { builtInProviders } from '../../models/providers.ts'
import { isMakersName, type PricedCall, Prices } from '../../models/prices.ts'
import { joinProcessPool, type PoolMembership, type SessionPool } from '../children/pool.ts'
import type { SkillDefinition } from '../children/port.ts'
import type { Tool } from '../../tools/port.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { approvalEffect } from './approval-effect.ts'
import { type Clock, realClock } from '../loop/clock.ts'
import { factsOf } from './host-options.ts'
import { checkHostOptions, hostDefaults, type HostOptions, type ToolChangePolicy } from './host-options.ts'
import type { EffectKind } from './effect-kind.ts'
import type { FurtherTools, HostSeams } from './host-seams.ts'
import { modelEffect } from './model-effect.ts'
import { ratesEffect } from './rates-effect.ts'
import { type Begin, Slots } from './slots.ts'
import { toolEffect } from './tool-effect.ts'

/** What is not data, by name: models, tools, users who approve, the clock, and the slots that work waits for. */
export class Host {
  readonly clock: Clock
  readonly seams: HostSeams
  readonly #further: FurtherTools
  readonly #facts: { readonly keeping: HostFactsData; readonly plain: HostFactsData }
  readonly onToolChange: ToolChangePolicy
  readonly artifacts: string | undefined
  readonly maxRecordBytes: number
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
    this.#providers = { ...builtInProviders(), ...options.models }
    for (const tool of options.tools ?? []) this.#addTool(tool)
    for (const skill of options.skills ?? []) this.#addSkill(skill)
    const facts = factsOf(this.#providers, options.tools ?? [], this.#skills)
    this.#facts = { plain: facts, keeping: Object.freeze({ keepsSessions: true, ...facts }) }
    this.artifacts = options.artifacts
    this.maxRecordBytes = options.maxRecordBytes ?? hostDefaults.maxRecordBytes
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

  /** What its Worlds know of it. @param isKept the World is kept in a store */
  facts(isKept: boolean): HostFactsData {
    return isKept ? this.#facts.keeping : this.#facts.plain
  }

  hasProvider(name: string): boolean {
    return Object.hasOwn(this.#providers, name)
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
    const inRoom = (leaveQueue?: () => void): void => {
      this.#slots.take((leave) => {
        const free = (): void => {
          leave()
          leaveQueue?.()
        }
        if (this.#slotsByQueue.get(name)?.isHeld !== true) return begin(free)
        // The queue was held while this waited for room.
        this.enqueue(name, begin)
        free()
      })
    }
    // A queue without a limit counts nothing until it is held.
    const own = this.#maxOf(name) === undefined ? this.#slotsByQueue.get(name) : this.#slotsOf(name)
    if (own === undefined) inRoom()
    else own.take(inRoom)
  }

  /** Starts no work of a queue for so long. Returns the instant, on the clock, at which it continues. */
  hold(name: string, durationMs: number): number {
    return this.#slotsOf(name).hold(this.clock, durationMs)
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
    return typeof this.#perProvider === 'number' ? this.#perProvider : this.#perProvider?.[name]
  }

  #slotsOf(name: string): Slots {
    let slots = this.#slotsByQueue.get(name)
    if (slots === undefined) this.#slotsByQueue.set(name, (slots = new Slots(this.#maxOf(name) ?? Infinity)))
    return slots
  }
}
