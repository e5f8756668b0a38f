import PQueue from 'p-queue'
import type { RetryPolicy } from '../../components/retry-policy.ts'
import type { ModelProvider } from '../models/port.ts'
import { builtInProviders } from '../models/providers.ts'
import type { Tool } from '../tools/port.ts'
import { EntiaError } from '../world/entia-error.ts'
import { approvalEffect, type Approve } from './approval-effect.ts'
import { type Clock, realClock } from './clock.ts'
import type { EffectKind } from './effect-kind.ts'
import { modelEffect } from './model-effect.ts'
import { toolEffect } from './tool-effect.ts'

export interface HostOptions {
  /** Providers by name, the part of a model's name before the slash. The built-in ones are there besides. */
  readonly models?: Readonly<Record<string, ModelProvider>>
  readonly tools?: readonly Tool[]
  /** Asks a person; `by-input`: answers are posted as inputs. Absent: nobody is there, and no tool that needs approval runs. */
  readonly approve?: Approve | 'by-input'
  /** Kinds of effects besides `model`, `tool` and `approval`. */
  readonly effects?: Readonly<Record<string, EffectKind>>
  /** @default real time */
  readonly clock?: Clock
  /** Most effects at work at once, approvals aside. @default 1024 */
  readonly maxInFlight?: number
  /** Most calls at work at once per provider; by name, or for each. @default as many as in all */
  readonly maxInFlightPerProvider?: number | Readonly<Record<string, number>>
}

/** Names of the options of a Host, by which others tell theirs apart. */
export const hostOptionNames: readonly (keyof HostOptions)[] = [
  'models',
  'tools',
  'approve',
  'effects',
  'clock',
  'maxInFlight',
  'maxInFlightPerProvider',
]

export const hostDefaults = { maxInFlight: 1_024 } as const

/** What is not data, by name: models, tools, people, time, and the queues in which work waits for its turn. */
export class Host {
  readonly clock: Clock
  readonly #providers: Readonly<Record<string, ModelProvider>>
  readonly #tools = new Map<string, Tool>()
  readonly #kinds: ReadonlyMap<string, EffectKind>
  readonly #maxInFlight: number
  readonly #line = new PQueue({ concurrency: 1 })
  readonly #perProvider: HostOptions['maxInFlightPerProvider']
  readonly #queues = new Map<string, PQueue>()
  readonly #holds = new Map<string, { readonly untilMs: number; readonly cancel: () => void }>()
  #inFlight = 0
  #tellOfRoom: (() => void) | undefined

  constructor(options: HostOptions = {}) {
    const unknown = Object.keys(options).filter((key) => !(hostOptionNames as readonly string[]).includes(key))
    if (unknown.length > 0) {
      const known = hostOptionNames.join(', ')
      throw new EntiaError('invalid-argument', `Host: unknown option ${unknown.join(', ')}. Known: ${known}.`)
    }
    this.clock = options.clock ?? realClock
    this.#providers = { ...builtInProviders(), ...options.models }
    for (const tool of options.tools ?? []) {
      const { name } = tool.declaration
      if (this.#tools.has(name)) throw new EntiaError('invalid-argument', `Host: two tools are called '${name}'.`)
      this.#tools.set(name, tool)
    }
    this.#kinds = new Map([
      ['model', modelEffect(this)],
      ['tool', toolEffect((name) => this.tool(name))],
      ['approval', approvalEffect(options.approve)],
      ...Object.entries(options.effects ?? {}),
    ])
    this.#maxInFlight = limit('maxInFlight', options.maxInFlight ?? hostDefaults.maxInFlight)
    this.#perProvider = options.maxInFlightPerProvider
    const limits = typeof this.#perProvider === 'object' ? this.#perProvider : { each: this.#perProvider ?? Infinity }
    for (const [name, value] of Object.entries(limits)) limit(`maxInFlightPerProvider (${name})`, value)
  }

  get tools(): ReadonlyMap<string, Tool> {
    return this.#tools
  }

  hasProvider(name: string): boolean {
    return Object.hasOwn(this.#providers, name)
  }

  get providerNames(): readonly string[] {
    return Object.keys(this.#providers)
  }

  /** @throws `unknown-provider` */
  provider(name: string): ModelProvider {
    const provider = Object.hasOwn(this.#providers, name) ? this.#providers[name] : undefined
    if (provider !== undefined) return provider
    throw new EntiaError(
      'unknown-provider',
      `There is no model provider '${name}'. Known: ${this.providerNames.join(', ')}.`,
    )
  }

  tool(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  /** @throws `missing-handler` */
  kind(name: string): EffectKind {
    const kind = this.#kinds.get(name)
    if (kind !== undefined) return kind
    throw new EntiaError(
      'missing-handler',
      `Nothing on this host does effects of kind '${name}'. Pass it in 'effects'.`,
    )
  }

  /** Retry policies of the providers that have one of their own. */
  retryPolicies(): Record<string, RetryPolicy | false> {
    const policies: Record<string, RetryPolicy | false> = {}
    for (const [name, { retry }] of Object.entries(this.#providers)) if (retry !== undefined) policies[name] = retry
    return policies
  }

  /**
   * Does work when there is a slot for it in all, and in its queue if it names one. The work of a held queue waits without
   * taking a slot.
   */
  enqueue(name: string | undefined, work: () => Promise<void>): void {
    if (name === undefined) return void this.#whenThereIsRoom(work)
    const begin = async (): Promise<void> => {
      // The queue may have been held while this waited for room.
      if (this.#holds.has(name)) this.enqueue(name, work)
      else await work()
    }
    const own = this.#ownQueue(name)
    if (own === undefined) void this.#whenThereIsRoom(begin)
    else void own.add(() => this.#whenThereIsRoom(begin))
  }

  /** Starts no work of a queue for so long. Gives the instant, on the clock, at which it goes on. */
  hold(name: string, durationMs: number): number {
    const held = this.#holds.get(name)
    const untilMs = Math.max(this.clock.now() + durationMs, held?.untilMs ?? 0)
    held?.cancel()
    const queue = this.#queue(name)
    queue.pause()
    const release = (): void => {
      this.#holds.delete(name)
      queue.start()
    }
    this.#holds.set(name, { untilMs, cancel: this.clock.at(untilMs, release) })
    return untilMs
  }

  /** Holds nothing any more, so that no timer keeps the process alive. */
  close(): void {
    for (const { cancel } of this.#holds.values()) cancel()
    this.#holds.clear()
  }

  /** Work begins at once while there is room; the line is for work that has to wait. */
  async #whenThereIsRoom(work: () => Promise<void>): Promise<void> {
    const isFull = this.#inFlight >= this.#maxInFlight || this.#line.size + this.#line.pending > 0
    if (isFull) await this.#line.add(() => this.#room())
    else this.#inFlight++
    try {
      await work()
    } finally {
      this.#inFlight--
      this.#tellOfRoom?.()
    }
  }

  /** Takes the next place that becomes free. The line asks for one at a time. */
  async #room(): Promise<void> {
    while (this.#inFlight >= this.#maxInFlight) await new Promise<void>((resolve) => (this.#tellOfRoom = resolve))
    this.#inFlight++
  }

  /** The queue of a provider that has a limit of its own, or was held once; all others need none. */
  #ownQueue(name: string): PQueue | undefined {
    const limited = typeof this.#perProvider === 'number' || this.#perProvider?.[name] !== undefined
    return limited ? this.#queue(name) : this.#queues.get(name)
  }

  #queue(name: string): PQueue {
    let queue = this.#queues.get(name)
    if (queue === undefined) {
      const given = typeof this.#perProvider === 'number' ? this.#perProvider : this.#perProvider?.[name]
      this.#queues.set(name, (queue = new PQueue({ concurrency: given ?? Infinity })))
    }
    return queue
  }
}

function limit(name: string, value: number): number {
  if (value === Infinity || (Number.isInteger(value) && value >= 1)) return value
  throw new EntiaError('invalid-argument', `Host: ${name} is a whole number of 1 or more, or Infinity; came ${value}.`)
}
