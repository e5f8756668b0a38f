import type { z } from 'zod'
import { canonical, canonicalOrNone, isEndless } from './canonical.ts'
import { EntiaError, type EntiaErrorCode } from '../base/entia-error.ts'
import { fits, fitsComponent } from './fits.ts'
import { inspect } from '../base/inspect.ts'
import { issueText } from '../base/issue-text.ts'
import type { Json } from '../base/json.ts'
import { shortly } from '../base/known-options.ts'
import { callback, checkOptions, count, flag, objectWith, oneOf, type ShapesOf, text } from '../base/option-shapes.ts'

/** Monotonic, never reused, stable over save and restore. */
export type Entity = number

/** A type of which nothing may be changed, however deep. */
export type DeepReadonly<T> = Json extends T
  ? T
  : T extends readonly (infer U)[]
    ? readonly DeepReadonly<U>[]
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T

/** Fields to replace; `undefined` removes an optional one. */
export type PatchOf<T> = { readonly [K in keyof T]?: T[K] | undefined }

export type DataOf<Schema extends () => z.ZodType> = DeepReadonly<z.infer<ReturnType<Schema>>>

/** A component with its first value, for `world.spawn` and `world.add`. */
export interface Initial {
  readonly token: Component
  readonly initial: Json
}

interface Token {
  readonly name: string
  /** From 0, among all components of the process. */
  readonly index: number
  /** Of its schema; older saved values are migrated. @default 1 */
  readonly version: number
  readonly migrate: Migrate | undefined
  /** @default 'invalid-value' */
  readonly refusedWith: EntiaErrorCode
}

/** Makes a present value of one saved under `version`; of a log, item by item. */
export type Migrate = (saved: Json, version: number) => unknown

/** A component whose value is replaced or patched. */
export interface Value<T = unknown> extends Token {
  readonly kind: 'value'
  readonly schema: z.ZodType<T>
  /** Field that references another entity; the world keeps it from dangling. */
  readonly ref: string | undefined
  /** Despawned with the referenced entity; otherwise only the component is removed. */
  readonly cascade: boolean
  readonly refusal: ((before: Json, after: Json) => Refusal | undefined) | undefined
}

export interface Refusal {
  readonly code: EntiaErrorCode
  readonly reason: string
}

/** A component that is an append-only list. */
export interface Log<T = unknown> extends Token {
  readonly kind: 'log'
  readonly schema: z.ZodType<T>
  readonly marks: Marks | undefined
  readonly edited: Value<EditedPart> | undefined
}

export interface Tag extends Token {
  readonly kind: 'tag'
}

/** A component of any kind: a value, a log or a tag. */
export type Component = Value | Log | Tag

/** Calling it makes an initial component: defaults filled in, checked, canonical. */
export interface ValueComponent<T, I = T> extends Value<T> {
  (value: DeepReadonly<I>): Initial
}
/** A component that is a list. */
export interface LogComponent<T> extends Log<T> {
  (items?: readonly DeepReadonly<T>[]): Initial
}
/** A component without data. */
export interface TagComponent extends Tag {
  (): Initial
}

/** A tag added when a log, after a write, ends in an item that passes `when`. */
export interface Marks {
  readonly tag: Tag
  when(last: unknown): boolean
}

/** A log's changes before its end, as one edit. */
export interface EditedPart {
  readonly from: number
  readonly inserted: number
  readonly removed: number
}

/** Options of `defineComponent` and `defineLog`. */
export interface ComponentOptions {
  readonly version?: number
  readonly migrate?: Migrate
  /** Code of the error that a wrong value throws. @default 'invalid-value' */
  readonly refusedWith?: 'invalid-value' | 'invalid-argument'
}

/** The schema must accept its own output unchanged; a function makes it at first use. */
export function defineComponent<S extends z.ZodType>(
  name: string,
  schema: S | (() => S),
  options: ComponentOptions & {
    readonly ref?: keyof z.output<S> & string
    readonly cascade?: boolean
    /** Why a value may not take another one's place: the write is refused then. */
    readonly refusal?: (before: DeepReadonly<z.output<S>>, after: DeepReadonly<z.output<S>>) => Refusal | undefined
  } = {},
): ValueComponent<z.output<S>, z.input<S>> {
  const whose = (): string => `component ${name}`
  const initial = (value: DeepReadonly<z.input<S>>): Initial => {
    const plain = canonicalOrNone(value)
    if (plain !== undefined && fitsComponent(made, plain)) return { token: made, initial: plain }
    if (plain === undefined && isEndless(value)) return { token: made, initial: canonical(value, whose) }
    const result = made.schema.safeParse(value)
    if (!result.success) throw invalidValue(whose(), result.error, made.refusedWith)
    // Zod gives a copy, which may be adopted. Frozen parts that many agents share, such as tools, are not copied at all.
    // A key called `__proto__`, which zod leaves out, is data here.
    const keepsValue = hasFrozenParts(value) || (plain !== undefined && hasKeyProto(plain))
    if (keepsValue && isSame(value, result.data)) return { token: made, initial: canonical(value, whose) }
    return { token: made, initial: canonical(result.data, whose, 1) }
  }
  const made = finish('value', name, initial, schema, options) as ValueComponent<z.output<S>, z.input<S>>
  return made
}

/** Defines a component that is a list which mostly grows, such as a conversation. */
export function defineLog<S extends z.ZodType>(
  name: string,
  schema: S | (() => S),
  options: ComponentOptions & {
    readonly marks?: { tag: Tag; when(last: DeepReadonly<z.output<S>>): boolean }
    /** Records changes before the log's end since it was last removed; not appends or equal items. */
    readonly edited?: Value<EditedPart>
  } = {},
): LogComponent<z.output<S>> {
  const initial = (items: readonly DeepReadonly<z.output<S>>[] = []): Initial => {
    const plain = canonicalOrNone(items)
    if (Array.isArray(plain) && plain.every((item: Json) => fitsComponent(made, item)))
      return { token: made, initial: plain }
    const stored = plain ?? canonical(items, () => `component ${name}`)
    if (!Array.isArray(stored)) {
      const what = `component ${name}: its first items must be a list, got ${inspect(stored, { depth: 1 })}`
      throw new EntiaError('invalid-value', `${what}. Write ${name}([…]).`)
    }
    const read = stored.map((item: Json, index) => readBySchema(made, item, () => `component ${name}, item ${index}`))
    return { token: made, initial: Object.freeze(read) }
  }
  const made = finish('log', name, initial, schema, options) as LogComponent<z.output<S>>
  return made
}

/** Defines a component without data: an entity has it or not. */
export function defineTag(name: string): TagComponent {
  const made = finish('tag', name, (): Initial => ({ token: made, initial: true }), undefined, {}) as TagComponent
  return made
}

export function invalidValue(whose: string, error: z.ZodError, code: EntiaErrorCode = 'invalid-value'): EntiaError {
  const reasons = error.issues.map(issueText).join('; ')
  return new EntiaError(code, `${whose}${reasons}. The write was refused.`, { issues: error.issues })
}

/** A canonical value as its schema reads it, defaults filled in. @throws `refusal` @default `invalid-value` */
export function readBySchema(
  token: Value | Log,
  value: Json,
  whose: () => string,
  refusal = (error: z.ZodError): EntiaError => invalidValue(whose(), error, token.refusedWith),
): Json {
  if (fitsComponent(token, value)) return value
  const { data, error } = token.schema.safeParse(value)
  if (error !== undefined) throw refusal(error)
  return isSame(value, data) ? value : canonical(data, whose, 1)
}

/** A canonical value as a schema reads it; `undefined` if it does not fit. */
export function parsedAs<S extends z.ZodType>(
  schema: S,
  value: Json | undefined,
): DeepReadonly<z.output<S>> | undefined {
  if (value !== undefined && fits(schema, value)) return value as DeepReadonly<z.output<S>>
  return schema.safeParse(value).data as DeepReadonly<z.output<S>> | undefined
}

/** What is wrong with a value for a component of this kind, before its schema. */
export function misfitOf({ kind, name }: Component, value: Json): string | undefined {
  if (kind === 'log' ? Array.isArray(value) : kind !== 'tag' || value === true) return undefined
  return `'${name}' is a ${kind} here, and was something else: give one of them another name`
}

function hasFrozenParts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((part) => {
    return typeof part === 'object' && part !== null && (Object.isFrozen(part) || hasFrozenParts(part))
  })
}

function hasKeyProto(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.hasOwn(value, '__proto__') || Object.values(value).some((part) => hasKeyProto(part))
}

/** Ignores keys called `__proto__`, which zod drops. */
function isSame(value: unknown, parsed: unknown): boolean {
  if (typeof value !== 'object' || value === null || typeof parsed !== 'object' || parsed === null)
    return value === parsed
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__' || Object.hasOwn(parsed, key))
  const other = parsed as Readonly<Record<string, unknown>>
  return entries.length === Object.keys(parsed).length && entries.every(([key, part]) => isSame(part, other[key]))
}

let nextIndex = 0

type Options = ComponentOptions & {
  readonly ref?: string
  readonly cascade?: boolean
  readonly refusal?: (before: never, after: never) => Refusal | undefined
  readonly marks?: { tag: Tag; when(last: never): boolean }
  readonly edited?: Value<EditedPart>
}

/** Schemas are many and slow to make, so each is made at first use. */
type Schematic = Component & { given: z.ZodType | (() => z.ZodType) | undefined }

const schematic: object = Object.create(Function.prototype, {
  schema: {
    get(this: Schematic): z.ZodType | undefined {
      if (typeof this.given === 'function') {
        const made: unknown = this.given()
        refuseNoSchema(this.name, made)
        this.given = made
      }
      return this.given
    },
  },
})

function refuseNoSchema(name: string, given: unknown): asserts given is z.ZodType {
  const isObject = typeof given === 'object' && given !== null
  if (isObject && '_zod' in given) return
  const came = isObject && '_def' in given ? 'one of zod 3' : shortly(given)
  throw new EntiaError('invalid-argument', `Component ${name}: its schema must be one of zod 4, got ${came}.`)
}

const optionShapes: ShapesOf<Options> = {
  version: count,
  migrate: callback,
  refusedWith: oneOf('invalid-value', 'invalid-argument'),
  ref: text,
  cascade: flag,
  refusal: callback,
  edited: {
    wanted: 'a component that defineComponent made, of { from, inserted, removed }',
    fits: (value) => typeof value === 'function' && 'kind' in value && value.kind === 'value',
  },
  marks: {
    wanted: 'a tag and a function, { tag, when(last) }',
    fits: (value) =>
      objectWith('', 'tag', 'when').fits(value) && (value as NonNullable<Options['marks']>).tag.kind === 'tag',
  },
}

/** Tokens have equal fields in equal order, and a function of their own name: mixed shapes are read far slower. */
function finish(
  kind: Component['kind'],
  name: string,
  initial: (value: never) => Initial,
  schema: z.ZodType | (() => z.ZodType) | undefined,
  options: Options,
): Component {
  if (typeof name !== 'string' || !/^[A-Z][A-Za-z0-9]*$/.test(name)) {
    const what = `A component's name must be a singular noun in PascalCase, got ${shortly(name)}`
    throw new EntiaError('invalid-argument', `${what}.`)
  }
  if (kind !== 'tag' && typeof schema !== 'function') refuseNoSchema(name, schema)
  checkOptions(`Component ${name}`, options, optionShapes)
  const { version = 1, migrate, refusedWith = 'invalid-value', ref, cascade = false, refusal, marks, edited } = options
  const named = { [name]: (value: never) => initial(value) }
  const token = Object.setPrototypeOf(named[name], schematic) as Component
  const index = nextIndex++
  return Object.assign(token, {
    kind,
    index,
    version,
    migrate,
    refusedWith,
    ref,
    cascade,
    refusal,
    marks,
    edited,
    given: schema,
  })
}
