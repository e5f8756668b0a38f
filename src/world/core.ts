import { canonical } from './canonical.ts'
import type { ChangeInput, Changes, Header, LogEdit } from './changes.ts'
import { type Component, type EditedPart, type Entity, type Log, readBySchema } from './component.ts'
import { editedPart, joined } from './edited-part.ts'
import { EntiaError } from './entia-error.ts'
import type { Json, JsonObject } from './json.ts'
import { shortly } from './known-options.ts'
import { Random } from './random.ts'
import { State } from './state.ts'
import type { Input, WorldEvent } from './input.ts'
import { Writers } from './writers.ts'

/** Who drives a world: it alone may tick it, and posts go to it. */
export interface Driver {
  readonly name: string
  readonly post: (input: Input) => void
}

/** The tick under way. */
export interface Underway {
  inputs: readonly Input[]
  readonly events: WorldEvent[]
  /** The system that runs. */
  writer: string
  again: boolean
  /** The kinds of `inputs`, each once. */
  kinds: readonly string[]
}

const defaultSeed = 1

/** What stands behind a `World`: its state, and the checks that every write passes. The engine's side of it, not the user's. */
export class Core {
  readonly name: string
  readonly seed: number
  /** Its seed was given, or is that of a snapshot. */
  readonly isSeeded: boolean
  readonly state = new State()
  readonly inbox: Input[] = []
  driver: Driver | undefined
  underway: Underway | undefined
  tick = 0
  nowMs = 0
  dateOffsetMs = 0
  next: Entity = 1
  ids = 0
  readonly random: Random
  /** The run id that `newId` mixes in, if there is one. */
  run: string | undefined
  /** Runs systems that nothing wakes as well, and refuses what they do then: their `wakes` lacks something. */
  checksWakes = false
  /** Of the last tick. */
  readonly writers = new Writers()
  readonly #tokens = new Map<string, Component>()
  /** Those by their indices. */
  readonly #known: (Component | undefined)[] = []
  /** Those whose version is above 1. */
  readonly versioned: Component[] = []
  #watchedFrom: Header | undefined

  constructor(name: string, seed: number | undefined, components: Iterable<Component>) {
    this.name = name
    this.seed = seed ?? defaultSeed
    this.isSeeded = seed !== undefined
    this.random = new Random(this.seed)
    for (const token of components) this.know(token)
  }

  get header(): Header {
    const { tick, nowMs, dateOffsetMs, next, ids, run } = this
    return { tick, nowMs, dateOffsetMs, next, ids, random: this.random.state, ...(run !== undefined && { run }) }
  }

  set header({ tick, nowMs, dateOffsetMs, next, ids, random, run }: Header) {
    Object.assign(this, { tick, nowMs, dateOffsetMs, next, ids, run })
    this.random.state = random
  }

  /** The components that have come up so far, by name. */
  get tokens(): ReadonlyMap<string, Component> {
    return this.#tokens
  }

  /** The component of that name. @throws `unknown-component` */
  token(name: string): Component {
    const token = this.#tokens.get(name)
    if (token !== undefined) return token
    throw new EntiaError(
      'unknown-component',
      `Component '${name}' is not known in world '${this.name}'. Pass it in 'components'.`,
      { component: name },
    )
  }

  /** @throws `duplicate-component` */
  know(token: Component): void {
    const { index } = token
    if (this.#known[index] === token) return
    if (this.#tokens.has(token.name)) {
      throw new EntiaError(
        'duplicate-component',
        `Two components are called '${token.name}'. Names are unique in a world: rename one of them.`,
      )
    }
    if (typeof index !== 'number') {
      throw new EntiaError('invalid-argument', `Expected a component such as Conversation, got ${shortly(token)}.`)
    }
    this.#tokens.set(token.name, token)
    this.#known[index] = token
    if (token.version > 1) this.versioned.push(token)
  }

  /** Makes this driver the only one that may tick the world; `undefined` lets go. @throws `world-driven` */
  drive(driver: Driver | undefined): void {
    if (driver !== undefined && this.driver !== undefined) {
      const what = `World '${this.name}' is driven by ${this.driver.name} already`
      throw new EntiaError('world-driven', `${what}: only one Runner drives a world. Stop that one first.`)
    }
    this.driver = driver
  }

  /**
   * From here on what is written between ticks is noted, so that it can enter a journal as a change.
   *
   * @param written what `unwatch` has taken back, to be written again
   */
  watch(written?: Input): void {
    this.state.begin()
    this.#watchedFrom = this.header
    if (written === undefined) return
    const { header, ...changes } = written as ChangeInput
    this.apply({ ...changes, next: header.next }, 'what was written between ticks')
    this.header = header
  }

  /** What was written since `watch`, as an input that makes it again; it is taken back. `undefined` if nothing was. */
  unwatch(): Input | undefined {
    const before = this.#watchedFrom
    if (before === undefined) return undefined
    this.#watchedFrom = undefined
    const now = this.header
    const changes = this.state.changes()
    if (Object.keys(changes).length === 0 && JSON.stringify(before) === JSON.stringify(now)) {
      this.state.forget()
      return undefined
    }
    this.state.undo()
    this.header = before
    return canonical(
      { kind: 'change', ...changes, header: now },
      () => 'what was written between ticks',
      Infinity,
    ) as Input
  }

  /** A tick begins: what it writes is tracked by itself. */
  beginTick(underway: Underway): void {
    this.#watchedFrom = undefined
    this.underway = underway
    this.writers.clear()
    this.state.begin()
  }

  /** @throws `world-driven` outside a tick while something drives the world */
  guard(): void {
    if (this.driver === undefined || this.underway !== undefined) return
    throw new EntiaError(
      'world-driven',
      `World '${this.name}' is driven by ${this.driver.name}: write in a system or with runner.change(…), or post an input.`,
    )
  }

  /** To be called before each write of a component: who writes it, and may it be. */
  note(token: Component): void {
    this.guard()
    this.know(token)
    if (this.underway !== undefined) this.writers.note(token, this.underway.writer)
  }

  /** Sets a component to a value that is canonical and valid. */
  put(entity: Entity, token: Component, value: Json): void {
    if (token.kind === 'tag' && this.state.get(entity, token) !== undefined) return this.guard()
    this.note(token)
    this.checkReference(entity, token, value)
    this.#checkChange(entity, token, value)
    const log = token.kind === 'log' ? (this.state.get(entity, token) as readonly Json[] | undefined) : undefined
    if (log !== undefined) return this.splice(entity, token as Log, [0, log.length, value as readonly Json[]])
    this.state.put(entity, token, value)
    if (token.kind === 'log') this.mark(entity, token)
  }

  /** Removes a component that is there. */
  take(entity: Entity, token: Component): void {
    this.note(token)
    if (token.kind === 'log') this.#noteEdit(entity, token, [0, this.#log(entity, token).length, []])
    this.state.take(entity, token)
  }

  /** Edits a log in one place, with items that are canonical and valid. */
  splice(entity: Entity, token: Log, edit: LogEdit): void {
    this.#noteEdit(entity, token, edit)
    this.state.splice(entity, token, edit)
    this.mark(entity, token)
  }

  /** Sets a log to the first so many items of another, whose items are neither copied nor checked. @throws `invalid-argument` */
  share(entity: Entity, token: Log, items: readonly unknown[], count: number, source: Log): void {
    if (token.schema !== source.schema) {
      const what = `entity ${shortly(entity)}, component ${token.name}: cannot share items of ${source.name}`
      throw new EntiaError(
        'invalid-argument',
        `${what}: the two have different schemas. Define them with the same one.`,
      )
    }
    if (!Number.isInteger(count) || count < 0 || count > items.length) {
      const what = `entity ${shortly(entity)}, component ${token.name}: cannot share ${shortly(count)} items of ${source.name}`
      throw new EntiaError('invalid-argument', `${what}: the log has ${items.length}.`)
    }
    this.put(entity, token, items.slice(0, count) as readonly Json[])
  }

  /**
   * A value or a log's item, canonical and valid.
   *
   * @param adoptedLevels how many levels of it nobody else holds: those are frozen in place
   * @throws `not-json`, `invalid-value`
   */
  check(entity: Entity, token: Exclude<Component, { kind: 'tag' }>, value: unknown, adoptedLevels = 0): Json {
    const whose = (): string => `entity ${shortly(entity)}, component ${token.name}`
    const stored = canonical(value, whose, adoptedLevels)
    return readBySchema(token, stored, whose)
  }

  /** Gives an entity the tag that its log's last item calls for. */
  mark(entity: Entity, token: Log): void {
    if (token.marks === undefined) return
    const last = this.#log(entity, token).at(-1)
    if (last !== undefined && token.marks.when(last)) this.put(entity, token.marks.tag, true)
  }

  /**
   * Makes changes again.
   *
   * @param changes with the number that the next entity got behind them, where that is known
   * @param where names them in errors
   */
  apply(changes: Changes & { readonly next?: Entity }, where = 'changes'): void {
    const { next = Infinity } = changes
    this.state.apply(changes, (name) => this.token(name), { from: this.next, next, where })
  }

  #log(entity: Entity, token: Log): readonly Json[] {
    return this.state.get(entity, token) as readonly Json[]
  }

  /** To be called before an edit: what it changes before the log's end is noted where the log wants it. */
  #noteEdit(entity: Entity, token: Log, edit: LogEdit): void {
    const { edited } = token
    const part = edited && editedPart(this.#log(entity, token), edit)
    if (edited === undefined || part === undefined) return
    const before = this.state.get(entity, edited) as EditedPart | undefined
    const noted = before === undefined ? part : joined(before, part)
    this.put(entity, edited, this.check(entity, edited, noted))
  }

  /** @throws what the component has against this value in the place of that */
  #checkChange(entity: Entity, token: Component, value: Json): void {
    if (token.kind !== 'value' || token.refusal === undefined) return
    const before = this.state.get(entity, token)
    const refusal = before === undefined ? undefined : token.refusal(before, value)
    if (refusal === undefined) return
    const what = `entity ${entity}, component ${token.name}: ${refusal.reason} The write was refused.`
    throw new EntiaError(refusal.code, what, { entity, component: token.name })
  }

  /** @throws `unknown-entity` for a reference to nobody */
  checkReference(entity: Entity, token: Component, value: Json): void {
    if (token.kind !== 'value' || token.ref === undefined) return
    const target = (value as JsonObject)[token.ref] as Entity
    if (this.state.entities.has(target)) return
    throw new EntiaError(
      'unknown-entity',
      `entity ${entity}, component ${token.name} at ${token.ref}: entity ${target} does not exist.`,
      { entity, component: token.name },
    )
  }
}
