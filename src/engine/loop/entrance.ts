import { didYouMean } from '../../base/near-names.ts'
import { shortly } from '../../base/known-options.ts'
import { standardEventTypes } from '../../protocol/event.ts'
import { inputKinds, inputSchema, type StandardInput } from '../../protocol/input.ts'
import { SeenInputs } from '../../../components/agent/host-facts.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { canonicalInput, type Input } from '../../world/input.ts'
import { inspect } from '../../base/inspect.ts'
import { issueText } from '../../base/issue-text.ts'
import { callback, refuseMisfit } from '../../base/option-shapes.ts'
import type { World } from '../../world/world.ts'
import { runnerEventTypes } from './events.ts'
import { Inbox, type Waiter } from './inbox.ts'
import type { TickLoop } from './tick-loop.ts'

/** Kinds that only a Runner posts. */
const ownKinds: ReadonlySet<unknown> = new Set([
  'admitted',
  'change',
  'due',
  'granted',
  'handle-kept',
  'session-spent',
  'session-stopped',
  'started',
  'subtask-spent',
])

/** Takes the inputs of a world that is driven: from programs, from effects, and from other worlds. */
export class Entrance {
  readonly inbox: Inbox
  /** Inputs that came under an id for a second time. */
  dropped = 0
  /** Takes only what other worlds report, for the last tick. */
  isClosed = false
  /** Reports of other worlds that no tick has taken yet: the last one of a Runner that stops takes them. */
  readonly late = new Set<Input>()
  readonly #world: World
  readonly #uncommitted = new Map<string, Promise<number>>()
  #loop: TickLoop | undefined
  /** Posted to the World before its first tick. The store's snapshot has none of them, or a crash would repeat them. */
  #early: Input[] = []

  constructor(world: World, maxInputsPerTick: number) {
    this.#world = world
    this.inbox = new Inbox(maxInputsPerTick)
  }

  /** Takes over what is posted to the World itself. @throws `invalid-input` for what was posted before */
  attach(): void {
    const { core } = this.#world
    for (const [index, input] of core.inbox.entries()) {
      try {
        postedInput(this.#world, input)
      } catch (error) {
        core.inbox.splice(index, 1)
        throw error
      }
    }
    this.#early = core.inbox.splice(0)
    const post = (input: unknown): void => {
      const posted = postedInput(this.#world, input)
      if (this.#loop === undefined) this.#early.push(posted)
      else this.#enterPosted(posted)
    }
    core.drive({ name: 'a Runner', post })
  }

  /** Returns what was posted to the World, which is not driven after all. */
  detach(): void {
    this.#world.core.drive(undefined)
    this.#world.core.inbox.push(...this.#early.splice(0))
  }

  open(loop: TickLoop, first: readonly (StandardInput | Input)[]): void {
    const world = this.#world
    this.#loop = loop
    this.inbox.remember(world.query(SeenInputs).flatMap((entity) => world.read(entity, SeenInputs)))
    for (const input of first) this.enter(input)
    for (const input of this.#early.splice(0)) this.#enterPosted(input)
  }

  /** @throws `world-driven` unless the loop is running, and what it has failed with */
  get loop(): TickLoop {
    if (this.#loop?.failure !== undefined) throw this.#loop.failure
    if (this.#loop !== undefined && !this.isClosed) return this.#loop
    throw this.refusal(this.isClosed ? 'was stopped' : 'is not running: await start() first')
  }

  refusal(what: string): EntiaError {
    return new EntiaError('world-driven', `The Runner of world '${this.#world.name}' ${what}.`)
  }

  /** Rejects what no tick has taken. */
  refuseRest(): void {
    for (const waiter of this.inbox.drain()) waiter.reject(this.refusal('was stopped before this was committed'))
  }

  /**
   * Puts in an input of a program. Resolves with the tick that took it, once committed; for an id that was seen before, with
   * the tick of the first, or `undefined` if that is committed.
   */
  async post(input: Input): Promise<number | undefined> {
    const { id } = input
    // Refused before the id counts as seen: a Runner that has failed did not commit what it took under it.
    void this.loop
    if (this.#isRepeated(input)) return this.#uncommitted.get(id as string)
    const committed = this.#committed((waiter) => this.inbox.push(input, waiter), true)
    if (typeof id === 'string') this.#uncommitted.set(id, committed)
    try {
      return await committed
    } finally {
      this.#uncommitted.delete(id as string)
    }
  }

  async change<T>(change: (world: World) => T): Promise<T> {
    refuseMisfit('runner.change', 'change', change, callback)
    const results: T[] = []
    const make = (world: World): void => void results.push(synchronous(change(world)))
    await this.#committed((waiter) => this.inbox.pushChange(make, waiter), true)
    return results.at(-1) as T
  }

  /** Takes a report of another world; `undefined`: it waits for the last tick of a Runner that stops. */
  learn(input: Input): Promise<unknown> | undefined {
    this.late.add(input)
    if (this.isClosed) return undefined
    return this.#committed((waiter) => {
      const taken = (tick: number): void => {
        this.late.delete(input)
        waiter.resolve(tick)
      }
      this.inbox.push(input, { reject: (error) => waiter.reject(error), resolve: taken })
    }, false)
  }

  /** Takes an input of work under way. Resolves once it is committed. @throws what `loop` throws */
  async take(input: StandardInput): Promise<unknown> {
    void this.loop
    return this.#committed((waiter) => this.inbox.push(canonicalInput(input), waiter), false)
  }

  /** Takes an input that came in a letter, and which the tick that takes it removes. False: it was there before. */
  enterLetter(input: Input, letter: number): boolean {
    if (this.isClosed || this.#loop === undefined || this.#loop.failure !== undefined) return true
    if (this.#isRepeated(input)) return false
    this.inbox.push(input, undefined, letter)
    this.#loop.wake()
    return true
  }

  enter(input: StandardInput | Input): void {
    if (this.isClosed || this.#loop === undefined || this.#loop.failure !== undefined) return
    this.inbox.push(canonicalInput(input))
    this.#loop.wake()
  }

  async #committed(enter: (waiter: Waiter) => void, isProgram: boolean): Promise<number> {
    const { loop } = this
    return new Promise<number>((resolve, reject) => {
      enter({ resolve, reject, ...(isProgram && { isProgram }) })
      loop.wake()
    })
  }

  /** If the Runner stops before a tick takes it, it returns to the world's inbox. */
  #enterPosted(input: Input): void {
    const { loop } = this
    if (this.#isRepeated(input)) return
    const reject = (): void => {
      if (loop.failure === undefined) this.#world.core.inbox.push(input)
    }
    this.inbox.push(input, { resolve: () => undefined, reject })
    loop.wake()
  }

  #isRepeated({ id }: Input): boolean {
    if (typeof id !== 'string' || this.inbox.isNew(id)) return false
    this.dropped++
    return true
  }
}

/** A program's input, checked and canonical. @throws `invalid-input`, `not-json` */
export function postedInput(world: World, input: unknown, id?: string): Input {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
  const stored = canonicalInput(isObject && id !== undefined ? { ...input, id } : input)
  const problem = problemOf(world, stored)
  if (problem === undefined) return stored
  throw new EntiaError('invalid-input', `${problem} It was not taken.`)
}

function problemOf(world: World, input: Input): string | undefined {
  const { kind, id } = input
  if (ownKinds.has(kind)) return `Inputs of kind '${kind}' are the Runner's own; to write, use runner.change(…).`
  const schema = inputSchema(kind)
  const issue = schema?.safeParse(input).error?.issues[0]
  if (issue !== undefined) return `Input '${kind}'${issueText(issue)}.`
  const isId = id === undefined || (typeof id === 'string' && id !== '')
  if (!isId) return `Input '${kind}' at id: expected a text that is not empty.`
  return schema === undefined ? undeclaredInput(world, kind, inputKinds()) : undefined
}

function synchronous<T>(result: T): T {
  if (!(result instanceof Promise)) return result
  result.catch(() => undefined)
  const what = 'runner.change: the function has to be synchronous, it gave a promise.'
  throw new EntiaError('invalid-argument', what)
}

export function checkListening({ systems }: World, type: string, listener: unknown): void {
  const known = new Set(['*', ...standardEventTypes, ...runnerEventTypes])
  for (const { events = [] } of systems) for (const own of events) known.add(own)
  if (known.has(type)) return refuseNoFunction(type, listener)
  const hint = typeof type === 'string' ? didYouMean(type, known) : ''
  const advice = `An event of your own is declared by the system that emits it: { name, events: [${inspect(type)}], run }.`
  throw new EntiaError('invalid-argument', `runner.on: there is no event ${inspect(type)}.${hint} ${advice}`, { type })
}

function refuseNoFunction(type: string, listener: unknown): void {
  if (typeof listener === 'function') return
  const what = `runner.on: the listener of '${type}' must be a function, got ${shortly(listener)}`
  throw new EntiaError('invalid-argument', `${what}. Write runner.on('${type}', (event) => { … }).`)
}

function undeclaredInput({ systems }: World, kind: string, standard: readonly string[]): string | undefined {
  const own = systems.flatMap(({ inputs = [] }): readonly string[] => inputs)
  if (own.includes(kind)) return undefined
  const hint = didYouMean(kind, [...standard, ...own])
  const advice = `An input of your own is declared by the system that takes it: { name, inputs: [${inspect(kind)}], run }.`
  return `No system takes inputs of kind '${kind}'.${hint} ${advice}`
}
