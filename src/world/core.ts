import { canonical } from './canonical.ts'
import type { ChangeInput, Changes, Header, LogEdit } from './changes.ts'
import type { Column } from './column.ts'
import { type Component, type EditedPart, type Entity, type Log, readBySchema } from './component.ts'
import { editedPart, joined } from './edited-part.ts'
import { fitsComponent } from './fits.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { shortly } from '../base/known-options.ts'
import { Random } from './random.ts'
import { State } from './state.ts'
import type { Input, WorldEvent } from './input.ts'
import type { WakePlan } from './wake-plan.ts'

export interface Driver {
  readonly name: string
  readonly post: (input: Input) => void
}

export interface Underway {
  inputs: readonly Input[]
  readonly events: WorldEvent[]
  writer: string
  again: boolean
}

const defaultSeed = 1

/** The engine's side of a `World`: its state, and the checks of every write. */
export class Core {
  readonly name: string
  readonly seed: number
  readonly isSeeded: boolean
  readonly state: State
  readonly inbox: Input[] = []
  readonly #unsaved = new Map<() => unknown, unknown>()
  driver: Driver | undefined
  underway: Underway | undefined
  tick = 0
  nowMs = 0
  dateOffsetMs = 0
  next: Entity = 1
  ids = 0
  readonly random: Random
  run: string | undefined
  /** Also run sleeping systems, and throw if they do anything. */
  checksWakes = false
  readonly #declared: ReadonlyMap<string, Component>
  #watchedFrom: Header | undefined

  constructor(name: string, seed: number | undefined, components: readonly Component[], plan: WakePlan) {
    this.name = name
    this.state = new State(plan)
    this.seed = seed ?? defaultSeed
    this.isSeeded = seed !== undefined
    this.random = new Random(this.seed)
    this.#declared = byName(components)
  }

  unsaved<T>(make: () => T): T {
    let cache = this.#unsaved.get(make) as T | undefined
    if (cache === undefined) this.#unsaved.set(make, (cache = make()))
    return cache
  }

  get header(): Header {
    const { tick, nowMs, dateOffsetMs, next, ids, run } = this
    return { tick, nowMs, dateOffsetMs, next, ids, random: this.random.state, ...(run !== undefined && { run }) }
  }

  set header({ tick, nowMs, dateOffsetMs, next, ids, random, run }: Header) {
    Object.assign(this, { tick, nowMs, dateOffsetMs, next, ids, run })
    this.random.state = random
  }

  get tokens(): ReadonlySet<Component> {
    return new Set([...this.#declared.values(), ...this.state.columns().map(({ token }) => token)])
  }

  /** Among those declared or used. */
  find(name: string): Component | undefined {
    const declared = this.#declared.get(name)
    if (declared !== undefined) return declared
    for (const { token } of this.state.columns()) if (token.name === name) return token
    return undefined
  }

  /** @throws `unknown-component` */
  token(name: string): Component {
    const token = this.find(name)
    if (token !== undefined) return token
    throw new EntiaError(
      'unknown-component',
      `Component '${name}' is not known in world '${this.name}'. Pass it in 'components'.`,
      { component: name },
    )
  }

  /** Created at first use. @throws `duplicate-component` */
  #column(token: Component): Column {
    const known = this.state.columnAt[token.index]
    if (known?.token === token) return known
    refuseDuplicate(this.find(token.name), token)
    refuseNoComponent(token)
    return this.state.column(token)
  }

  /** `undefined` releases it. @throws `world-driven` */
  drive(driver: Driver | undefined): void {
    if (driver !== undefined && this.driver !== undefined) {
      const what = `World '${this.name}' is driven by ${this.driver.name} already`
      throw new EntiaError('world-driven', `${what}: only one Runner drives a world. Stop that one first.`)
    }
    this.driver = driver
  }

  /** Tracks writes between ticks for the journal. `written`: undone by `unwatch`, to be repeated. */
  watch(written?: Input): void {
    this.state.tracking.begin()
    this.#watchedFrom = this.header
    if (written === undefined) return
    const { header, ...changes } = written as ChangeInput
    this.apply({ ...changes, next: header.next }, 'what was written between ticks')
    this.header = header
  }

  /** Undoes writes since `watch`, and returns an input that repeats them, if there were any. */
  unwatch(): Input | undefined {
    const before = this.#watchedFrom
    if (before === undefined) return undefined
    this.#watchedFrom = undefined
    const now = this.header
    const changes = this.state.changes({})
    if (Object.keys(changes).length === 0 && JSON.stringify(before) === JSON.stringify(now)) {
      this.state.tracking.forget()
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

  beginTick(underway: Underway): void {
    this.#watchedFrom = undefined
    this.underway = underway
    this.state.tracking.begin()
  }

  /** @throws `world-driven` outside a tick while something drives the world */
  guard(): void {
    if (this.driver === undefined || this.underway !== undefined) return
    throw new EntiaError(
      'world-driven',
      `World '${this.name}' is driven by ${this.driver.name}: write in a system or with runner.change(…), or post an input.`,
    )
  }

  /** `value` must be canonical and valid. */
  put(entity: Entity, token: Component, value: Json): void {
    if (this.underway === undefined) this.guard()
    const known = this.state.columnAt[token.index]
    const column = known !== undefined && known.token === token ? known : this.#column(token)
    const { entities } = this.state
    const row = entities.rowOf.get(entity) ?? this.state.row(entity)
    const place = row - column.firstRow
    const before = place >= 0 && place < column.values.length ? column.values[place] : undefined
    if (before !== undefined && token.kind === 'tag') return
    if (this.underway !== undefined) column.writer = this.underway.writer
    if (!column.isPlain) return this.#putChecked(entity, token, value, before)
    column.touch(entity, before)
    if (before !== undefined) {
      column.values[place] = value
      return
    }
    column.put(row, value, true)
    entities.revision++
    if (entities.membership !== undefined) entities.membership.attach(row, token)
  }

  #putChecked(entity: Entity, token: Component, value: Json, before: Json | undefined): void {
    this.checkReference(entity, token, value)
    this.#checkChange(entity, token, before, value)
    if (token.kind === 'log' && before !== undefined)
      return this.splice(entity, token, [0, (before as readonly Json[]).length, value as readonly Json[]])
    this.state.put(entity, token, value)
    if (token.kind === 'log') this.mark(entity, token)
  }

  #write(token: Component): void {
    if (this.underway === undefined) this.guard()
    const column = this.#column(token)
    if (this.underway !== undefined) column.writer = this.underway.writer
  }

  /** No-op if absent. */
  take(entity: Entity, token: Component): void {
    if (this.underway === undefined) this.guard()
    const { columnAt, entities } = this.state
    const column = columnAt[token.index]
    const row = entities.rowOf.get(entity)
    if (column === undefined || row === undefined) return
    const place = row - column.firstRow
    const value = place >= 0 && place < column.values.length ? column.values[place] : undefined
    if (value === undefined) return
    if (this.underway !== undefined) column.writer = this.underway.writer
    if (token.kind === 'log') this.#noteEdit(entity, token, [0, (value as readonly Json[]).length, []])
    this.state.takeFrom(column, entity, row, value)
  }

  /** Appends items, which must be canonical and valid; adds the log if absent. */
  append(entity: Entity, token: Log, items: readonly Json[]): void {
    if (this.underway === undefined) this.guard()
    const known = this.state.columnAt[token.index]
    const column = known !== undefined && known.token === token ? known : this.#column(token)
    const log = column.get(this.state.row(entity)) as Json[] | undefined
    if (log === undefined) return this.put(entity, token, items)
    if (this.underway !== undefined) column.writer = this.underway.writer
    const before = column.touch(entity, log)
    if (before?.edits !== undefined) before.edits.push([log.length, 0, items])
    for (const item of items) log.push(item)
    const last = log.at(-1)
    if (last !== undefined && token.marks?.when(last) === true) this.put(entity, token.marks.tag, true)
  }

  /** Items must be canonical and valid. */
  splice(entity: Entity, token: Log, edit: LogEdit): void {
    this.#write(token)
    this.#noteEdit(entity, token, edit)
    this.state.splice(entity, token, edit)
    this.mark(entity, token)
  }

  /** Shares items without copying or checking. @throws `invalid-argument` */
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

  /** A canonical, valid value or log item; `adoptedLevels` as in `canonical`. @throws `not-json`, `invalid-value` */
  check(entity: Entity, token: Exclude<Component, { kind: 'tag' }>, value: unknown, adoptedLevels = 0): Json {
    const whose = (): string => `entity ${shortly(entity)}, component ${token.name}`
    return this.fitting(entity, token, canonical(value, whose, adoptedLevels))
  }

  /** A canonical value or log item as its schema reads it. @throws `invalid-value` */
  fitting(entity: Entity, token: Exclude<Component, { kind: 'tag' }>, value: Json): Json {
    if (fitsComponent(token, value)) return value
    return readBySchema(token, value, () => `entity ${shortly(entity)}, component ${token.name}`)
  }

  mark(entity: Entity, token: Log): void {
    if (token.marks === undefined) return
    const last = this.#log(entity, token).at(-1)
    if (last !== undefined && token.marks.when(last)) this.put(entity, token.marks.tag, true)
  }

  /** `where` names the changes in errors. */
  apply(changes: Changes & { readonly next?: Entity }, where = 'changes'): void {
    const { next = Infinity } = changes
    this.state.apply(changes, (name) => this.token(name), { from: this.next, next, where })
  }

  #log(entity: Entity, token: Log): readonly Json[] {
    return this.state.get(entity, token) as readonly Json[]
  }

  /** Before an edit, for logs with `edited`. */
  #noteEdit(entity: Entity, token: Log, edit: LogEdit): void {
    const { edited } = token
    const part = edited && editedPart(this.#log(entity, token), edit)
    if (edited === undefined || part === undefined) return
    const before = this.state.get(entity, edited) as EditedPart | undefined
    const noted = before === undefined ? part : joined(before, part)
    this.put(entity, edited, this.check(entity, edited, noted))
  }

  /** @throws the component's `refusal` of this value in place of the present one */
  #checkChange(entity: Entity, token: Component, before: Json | undefined, value: Json): void {
    if (token.kind !== 'value' || token.refusal === undefined) return
    const refusal = before === undefined ? undefined : token.refusal(before, value)
    if (refusal === undefined) return
    const what = `entity ${entity}, component ${token.name}: ${refusal.reason} The write was refused.`
    throw new EntiaError(refusal.code, what, { entity, component: token.name })
  }

  /** @throws `unknown-entity` for a dangling reference */
  checkReference(entity: Entity, token: Component, value: Json): void {
    if (token.kind !== 'value' || token.ref === undefined) return
    const target = (value as JsonObject)[token.ref] as Entity
    if (this.state.entities.rowOf.has(target)) return
    throw new EntiaError(
      'unknown-entity',
      `entity ${entity}, component ${token.name} at ${token.ref}: entity ${target} does not exist.`,
      { entity, component: token.name },
    )
  }
}

let lastDeclared: ReadonlyMap<string, Component> = new Map()

/** Worlds with the same components share one map. @throws `duplicate-component` */
function byName(components: readonly Component[]): ReadonlyMap<string, Component> {
  const last = lastDeclared.values()
  const isSameList = components.length === lastDeclared.size && components.every((token) => last.next().value === token)
  if (isSameList) return lastDeclared
  const declared = new Map<string, Component>()
  for (const token of components) {
    refuseDuplicate(declared.get(token.name), token)
    declared.set(token.name, token)
  }
  return (lastDeclared = declared)
}

function refuseDuplicate(known: Component | undefined, token: Component): void {
  if (known === undefined || known === token) return
  throw new EntiaError(
    'duplicate-component',
    `Two components are called '${token.name}'. Names are unique in a world: rename one of them.`,
  )
}

function refuseNoComponent(token: Component): void {
  if (typeof token.index === 'number') return
  throw new EntiaError('invalid-argument', `Expected a component such as Conversation, got ${shortly(token)}.`)
}
