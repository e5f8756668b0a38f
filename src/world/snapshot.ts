import type { Header } from './changes.ts'
import type { Entity } from './component.ts'
import type { Input } from './input.ts'
import { EntiaError } from '../base/entia-error.ts'
import { checkOptions, flag } from '../base/option-shapes.ts'
import type { Json } from '../base/json.ts'
import { LinesHash } from '../base/sha256.ts'
import type { State } from './state.ts'

/** Of snapshots and their journals. */
export const snapshotFormat = 1

/** Longer logs continue on further lines, so that no line exceeds a string's maximum. */
export const itemsPerLine = 1_000

export type SnapshotHead = {
  readonly entia: number
  readonly name: string
  readonly seed: number
  /** Of the components in use. */
  readonly components: Readonly<Record<string, number>>
  readonly header: Header
  readonly inbox: readonly Input[]
}

/** Last line: the count and SHA-256 of the lines before. */
export type SnapshotEnd = {
  readonly end: { readonly lines: number; readonly sha256: string }
}

/** What of a world is saved. */
export interface Saveable {
  readonly name: string
  readonly seed: number
  readonly header: Header
  readonly inbox: readonly Input[]
  readonly state: State
  token(name: string): { readonly version: number }
}

/** Head, entities ascending, checksum. @throws `corrupt-snapshot` if the world changes meanwhile */
export function* snapshotLines(core: Saveable): Generator<string> {
  const hash = new LinesHash()
  const { revision } = core.state.tracking
  let lines = 0
  for (const line of contentLines(core)) {
    hash.add(line)
    lines++
    yield line
    if (core.state.tracking.revision === revision) continue
    throw new EntiaError(
      'corrupt-snapshot',
      `World '${core.name}' changed after line ${lines} of its snapshot. Take all lines at once: [...world.snapshot()].`,
    )
  }
  const end: SnapshotEnd = { end: { lines, sha256: hash.end() } }
  yield JSON.stringify(end)
}

/** Options of a hash of a world. */
export interface HashOptions {
  /** Leaves out ticks, `…Ms` keys, attempts, dice and counters, which an interruption changes. @default false */
  readonly stable?: boolean
}

/** SHA-256 of a world's content in hex, without its run id. */
export function hashWorld(core: Saveable, options: HashOptions): string {
  checkOptions('world.hash', options, { stable: flag })
  const { stable = false } = options
  const hash = new LinesHash()
  const header: Header = { ...core.header, run: undefined }
  for (const line of stable ? stableLines(core) : contentLines(core, header)) hash.add(line)
  return hash.end()
}

function* contentLines(core: Saveable, header = core.header): Generator<string> {
  const components: Record<string, number> = {}
  for (const name of usedNames(core)) components[name] = core.token(name).version
  const head: SnapshotHead = {
    entia: snapshotFormat,
    name: core.name,
    seed: core.seed,
    components,
    header,
    inbox: core.inbox,
  }
  yield JSON.stringify(head)
  for (const entity of core.state.entities.all()) yield* entityLines(core, entity)
}

function* entityLines(core: Saveable, entity: Entity): Generator<string> {
  const values: Record<string, Json> = {}
  const long: [string, readonly Json[]][] = []
  for (const token of core.state.componentsOf(entity)) {
    const value = core.state.get(entity, token) as Json
    const isLong = token.kind === 'log' && (value as readonly Json[]).length > itemsPerLine
    values[token.name] = isLong ? (value as readonly Json[]).slice(0, itemsPerLine) : value
    if (isLong) long.push([token.name, value as readonly Json[]])
  }
  yield `{"entity":${entity},"has":${JSON.stringify(values)}}`
  for (const [name, items] of long) {
    for (let from = itemsPerLine; from < items.length; from += itemsPerLine) {
      const more = JSON.stringify(items.slice(from, from + itemsPerLine))
      yield `{"entity":${entity},"log":${JSON.stringify(name)},"more":${more}}`
    }
  }
}

function usedNames(core: Saveable): string[] {
  const used = core.state.columns().filter((column) => column.count > 0)
  return used.map((column) => column.token.name)
}

function* stableLines(core: Saveable): Generator<string> {
  for (const entity of core.state.entities.all()) {
    for (const line of entityLines(core, entity)) {
      yield JSON.stringify(JSON.parse(line), (key, value: unknown) => (isVolatile(key) ? undefined : value))
    }
  }
}

function isVolatile(key: string): boolean {
  return key.endsWith('Ms') || key === 'attempt'
}
