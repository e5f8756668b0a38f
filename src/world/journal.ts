import { assign } from './canonical.ts'
import type { Delta, Header } from './changes.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Input, WorldEvent } from './input.ts'
import { canonicalRead, checkedDelta, type Corrupt, parsedLine, shaped } from './saved-shapes.ts'
import { sha256 } from '../base/sha256.ts'

/** One tick as it is written to a journal. */
export interface Step {
  readonly inputs: readonly Input[]
  readonly delta: Delta
  readonly events: readonly WorldEvent[]
  /** Component → the system that wrote it last. In recordings only. */
  readonly writers?: Readonly<Record<string, string>> | undefined
}

/** Hex digits of the hash that each line starts with. */
const checkLength = 16

/**
 * Encodes steps as journal lines. Delta values that are part of an input become paths into it. Each line's hash covers all
 * lines before it, so lost, edited or moved lines are found.
 */
export class JournalCodec {
  #chain: string
  #header: Header | undefined

  /** `anchor`: the snapshot's hash; `header`: its header, as lines hold only changed parts. */
  constructor(anchor: string, header?: Header) {
    this.#chain = anchor
    this.#header = header
  }

  get chain(): string {
    return this.#chain
  }

  fork(): JournalCodec {
    return new JournalCodec(this.#chain, this.#header)
  }

  encode(step: Step): string {
    const places = new Map<object, Place>()
    collect(step.inputs, undefined, places)
    const text = JSON.stringify({
      i: step.inputs,
      d: pack(this.#brief(step.delta), places),
      e: step.events,
      ...(step.writers && { w: step.writers }),
    })
    this.#chain = link(this.#chain, text)
    return `${this.#chain} ${text}`
  }

  #brief(delta: Delta): JsonObject {
    const brief: Record<string, Json | undefined> = { ...delta }
    const before = this.#header
    for (const key of steady) if (before !== undefined && isSame(before[key], delta[key])) brief[key] = undefined
    this.#header = headerOf(delta)
    return brief
  }

  /** @throws `corrupt-journal` */
  decode(line: string, where: string): Step {
    const text = line.slice(checkLength + 1)
    const chain = link(this.#chain, text)
    if (!line.startsWith(`${chain} `)) {
      throw new EntiaError(
        'corrupt-journal',
        `${where}: the line does not follow from the lines before it: it was edited, lost or moved. ` +
          'Restore the store from a copy, or delete the world from the store to begin anew.',
      )
    }
    this.#chain = chain
    const corrupt = (problem: string): EntiaError => {
      return new EntiaError('corrupt-journal', `${where}: ${problem}. Restore the store from a copy.`)
    }
    const {
      i: inputs,
      d,
      e: events,
      w: writers,
    } = shaped('row', canonicalRead(parsedLine(text, corrupt), corrupt), corrupt)
    const said = unpack(d, inputs, corrupt)
    const isPart = typeof said === 'object' && said !== null && !Array.isArray(said)
    const delta = checkedDelta(isPart ? { ...this.#header, ...(said as JsonObject) } : said, corrupt)
    this.#header = headerOf(delta)
    return { inputs, delta, events, writers }
  }
}

/**
 * A line's content, without a look at the lines before it: header fields that did not change are absent.
 * @throws `corrupt-journal`
 */
export function contentOf(line: string, where: string): Omit<Step, 'delta'> & { readonly delta: Partial<Delta> } {
  const corrupt = (problem: string): EntiaError => {
    return new EntiaError('corrupt-journal', `${where}: ${problem}. Restore the store from a copy.`)
  }
  const { i: inputs, d, e: events } = shaped('row', parsedLine(line.slice(checkLength + 1), corrupt) as Json, corrupt)
  return { inputs, events, delta: unpack(d, inputs, corrupt) as Partial<Delta> }
}

/** Header fields that most ticks leave unchanged. */
const steady = ['dateOffsetMs', 'ids', 'next', 'nowMs', 'random', 'run'] as const

function headerOf({ tick, nowMs, dateOffsetMs, next, ids, random, run }: Header): Header {
  return { tick, nowMs, dateOffsetMs, next, ids, random, ...(run !== undefined && { run }) }
}

function isSame(before: Header[keyof Header], now: Header[keyof Header]): boolean {
  if (typeof before !== 'object' || typeof now !== 'object') return before === now
  return before.every((part, index) => part === now[index])
}

function link(chain: string, text: string): string {
  return sha256(chain + text).slice(0, checkLength)
}

/** A linked path into a step's inputs. */
interface Place {
  readonly above: Place | undefined
  readonly key: string | number
}

function collect(holder: object, above: Place | undefined, places: Map<object, Place>): void {
  if (Array.isArray(holder)) {
    for (let index = 0; index < holder.length; index++) collectOne(holder[index], above, index, places)
  } else for (const key in holder) collectOne((holder as JsonObject)[key], above, key, places)
}

function collectOne(node: unknown, above: Place | undefined, key: string | number, places: Map<object, Place>): void {
  if (typeof node !== 'object' || node === null) return
  const place = { above, key }
  places.set(node, place)
  collect(node, place, places)
}

function pathTo(place: Place): Json[] {
  const path: Json[] = []
  for (let at: Place | undefined = place; at !== undefined; at = at.above) path.push(at.key)
  return path.toReversed()
}

/** Replaces parts of inputs by their places; copies only what contains one. */
function pack(node: Json, places: ReadonlyMap<object, Place>): Json {
  if (typeof node !== 'object' || node === null) return node
  const place = places.get(node)
  if (place !== undefined) return { $in: pathTo(place) }
  return Array.isArray(node) ? packArray(node, places) : packObject(node as JsonObject, places)
}

function packArray(items: readonly Json[], places: ReadonlyMap<object, Place>): readonly Json[] {
  let copy: Json[] | undefined
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Json
    const packed = pack(item, places)
    if (packed !== item) (copy ??= items.slice())[index] = packed
  }
  return copy ?? items
}

function packObject(node: JsonObject, places: ReadonlyMap<object, Place>): JsonObject {
  let copy: Record<string, Json> | undefined
  let isLikePlace = false
  for (const key in node) {
    isLikePlace ||= key === '$in'
    const item = node[key]
    if (typeof item !== 'object' || item === null) continue
    const packed = pack(item, places)
    if (packed !== item) assign((copy ??= { ...node } as Record<string, Json>), key, packed)
  }
  const packed = copy ?? node
  // Escapes a value that has a key of this name itself.
  return isLikePlace ? { $in: { is: packed } } : packed
}

/** The inverse of `pack`. */
function unpack(node: Json, inputs: readonly Input[], corrupt: Corrupt): Json {
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node)) return unpackItems(node as readonly Json[], inputs, corrupt)
  const { $in } = node as JsonObject
  if (Array.isArray($in)) return inputAt($in as readonly Json[], inputs, corrupt)
  if ($in === undefined) return unpackFields(node as JsonObject, inputs, corrupt)
  const wrapped = typeof $in === 'object' && $in !== null ? ($in as JsonObject)['is'] : undefined
  const isWrapped = typeof wrapped === 'object' && wrapped !== null && !Array.isArray(wrapped)
  if (!isWrapped) throw corrupt("a value has '$in', and neither a place nor what it stands for")
  return unpackFields(wrapped as JsonObject, inputs, corrupt)
}

function inputAt(path: readonly Json[], inputs: readonly Input[], corrupt: Corrupt): Json {
  let found: Json = inputs
  for (const key of path) {
    const isKey = typeof key === 'string' || typeof key === 'number'
    const isThere = isKey && typeof found === 'object' && found !== null && Object.hasOwn(found, key)
    if (!isThere) throw corrupt(`its inputs have nothing at ${JSON.stringify(path)}`)
    found = (found as Readonly<Record<string | number, Json>>)[key] as Json
  }
  return found
}

function unpackItems(items: readonly Json[], inputs: readonly Input[], corrupt: Corrupt): Json {
  let copy: Json[] | undefined
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Json
    const unpacked = unpack(item, inputs, corrupt)
    if (unpacked !== item) (copy ??= items.slice())[index] = unpacked
  }
  return copy ?? items
}

function unpackFields(fields: JsonObject, inputs: readonly Input[], corrupt: Corrupt): Json {
  let copy: Record<string, Json> | undefined
  for (const key in fields) {
    const value = fields[key] as Json
    const unpacked = unpack(value, inputs, corrupt)
    if (unpacked !== value) assign((copy ??= { ...fields } as Record<string, Json>), key, unpacked)
  }
  return copy ?? fields
}
