import { inputKinds, inputSchema, type StandardInput } from '../../protocol/input.ts'
import { SeenInputs } from '../../../components/agent/host-facts.ts'
import { canonical } from '../../world/canonical.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { Input } from '../../world/input.ts'
import { inspect } from '../../world/inspect.ts'
import { issueText } from '../../world/issue-text.ts'
import { callback, refuseMisfit } from '../../world/option-shapes.ts'
import type { World } from '../../world/world.ts'
import { undeclaredInput } from './declared-names.ts'
import { Inbox, type Waiter } from './inbox.ts'
import type { TickLoop } from './tick-loop.ts'

/** What only a Runner knows to be true. */
const ownKinds: ReadonlySet<unknown> = new Set([
  'admitted',
  'change',
  'due',
  'granted',
  'session-spent',
  'session-stopped',
  'started',
  'subtask-spent',
])

/** The way into a world that is driven: for programs, for what effects come to, and for what is learned of other worlds. */
export class Entrance {
  readonly inbox: Inbox
  /** Inputs that came under an id for a second time. */
  dropped = 0
  /** Nothing comes in any more but what is learned of other worlds, for the last tick. */
  isClosed = false
  /** What was learned of other worlds too late for all but the last tick. */
  readonly late: Input[] = []
  readonly #world: World
  /** Posts under an id that are not committed yet. */
  readonly #uncommitted = new Map<string, Promise<void>>()
  #loop: TickLoop | undefined
  /** Posted to the world before its first tick. Kept out of the store's snapshot, which would bring them in again after a crash. */
  #early: Input[] = []

  constructor(world: World, maxInputsPerTick: number) {
    this.#world = world
    this.inbox = new Inbox(maxInputsPerTick)
  }

  /** Takes over what is posted to the World itself. @throws `invalid-input` for what was posted before and is none */
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

  /** Leaves what was posted with the World: it is not driven after all. */
  detach(): void {
    this.#world.core.drive(undefined)
    this.#world.core.inbox.push(...this.#early.splice(0))
  }

  /** From here on a loop takes what comes in: first these. */
  open(loop: TickLoop, first: readonly (StandardInput | Input)[]): void {
    const world = this.#world
    this.#loop = loop
    this.inbox.remember(world.query(SeenInputs).flatMap((entity) => world.read(entity, SeenInputs)))
    for (const input of first) this.enter(input)
    for (const input of this.#early.splice(0)) this.#enterPosted(input)
  }

  /** The loop that takes what comes in. @throws `world-driven` unless it goes on, and what it has failed with */
  get loop(): TickLoop {
    if (this.#loop?.failure !== undefined) throw this.#loop.failure
    if (this.#loop !== undefined && !this.isClosed) return this.#loop
    throw this.refusal(this.isClosed ? 'was stopped' : 'is not running: call start() first')
  }

  refusal(what: string): EntiaError {
    return new EntiaError('world-driven', `The Runner of world '${this.#world.name}' ${what}.`)
  }

  /** Puts an input of a program in. Resolves once it is committed; under an id that was seen before, once the first one is. */
  async post(input: Input): Promise<void> {
    const { id } = input
    // Refused before the id counts as seen: a Runner that has failed did not commit what it took under it.
    void this.loop
    if (this.#isRepeated(input)) return this.#uncommitted.get(id as string)
    const committed = this.#committed((waiter) => this.inbox.push(input, waiter), true)
    if (typeof id === 'string') this.#uncommitted.set(id, committed)
    try {
      await committed
    } finally {
      this.#uncommitted.delete(id as string)
    }
  }

  /** Changes the world at the next tick. Resolves with what the function gives once that is committed. */
  async change<T>(change: (world: World) => T): Promise<T> {
    refuseMisfit('runner.change', 'change', change, callback)
    const results: T[] = []
    const make = (world: World): void => void results.push(synchronous(change(world)))
    await this.#committed((waiter) => this.inbox.pushChange(make, waiter), true)
    return results.at(-1) as T
  }

  /** Puts in what was learned of another world; `undefined`: it waits for the last tick of a Runner that stops. */
  learn(input: Input): Promise<void> | undefined {
    if (!this.isClosed) return this.#committed((waiter) => this.inbox.push(input, waiter), false)
    this.late.push(input)
    return undefined
  }

  /** Puts in what is not waited for. */
  enter(input: StandardInput | Input): void {
    if (this.isClosed || this.#loop === undefined || this.#loop.failure !== undefined) return
    this.inbox.push(canonical(input, () => 'an input') as Input)
    this.#loop.wake()
  }

  async #committed(enter: (waiter: Waiter) => void, isProgram: boolean): Promise<void> {
    const { loop } = this
    await new Promise<void>((resolve, reject) => {
      enter({ resolve, reject, ...(isProgram && { isProgram }) })
      loop.wake()
    })
  }

  /** If the Runner is stopped before it is taken, it is in the world's inbox again. */
  #enterPosted(input: Input): void {
    const { loop } = this
    if (this.#isRepeated(input)) return
    const reject = (): void => {
      if (loop.failure === undefined) this.#world.core.inbox.push(input)
    }
    this.inbox.push(input, { resolve: () => undefined, reject })
    loop.wake()
  }

  /** Drops and counts what comes under an id for a second time. */
  #isRepeated({ id }: Input): boolean {
    if (typeof id !== 'string' || this.inbox.isNew(id)) return false
    this.dropped++
    return true
  }
}

/**
 * An input from outside, canonical, as it may enter a world.
 *
 * @param id to take it under, once
 * @throws `invalid-input`, `not-json`
 */
export function postedInput(world: World, input: unknown, id?: string): Input {
  const stored = canonical(isObject(input) && id !== undefined ? { ...input, id } : input, () => 'an input')
  const problem = problemOf(world, stored)
  if (problem === undefined) return stored as Input
  throw new EntiaError('invalid-input', `${problem} It was not taken.`)
}

function problemOf(world: World, input: unknown): string | undefined {
  if (!isObject(input) || typeof input['kind'] !== 'string') {
    return `An input is an object whose 'kind' is a text, by which systems pick it; got ${inspect(input)}.`
  }
  const { kind, id } = input
  if (ownKinds.has(kind)) return `Inputs of kind '${kind}' are the Runner's own; to write, use runner.change(…).`
  const schema = inputSchema(kind)
  const issue = schema?.safeParse(input).error?.issues[0]
  if (issue !== undefined) return `Input '${kind}'${issueText(issue)}.`
  const isId = id === undefined || (typeof id === 'string' && id !== '')
  if (!isId) return `Input '${kind}' at id: expected a text that is not empty.`
  return schema === undefined ? undeclaredInput(world, kind, inputKinds()) : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a change has given, if it is no promise. @throws `invalid-argument` */
function synchronous<T>(result: T): T {
  if (!(result instanceof Promise)) return result
  result.catch(() => undefined)
  const what = 'runner.change: the function has to be synchronous, it gave a promise.'
  throw new EntiaError('invalid-argument', what)
}
