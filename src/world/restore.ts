import type { z } from 'zod'
import { canonical } from './canonical.ts'
import type { Delta } from './changes.ts'
import { type Component, type Entity, invalidValue, type Log, misfitOf, readBySchema, type Value } from './component.ts'
import type { Core } from './core.ts'
import type { Column } from './column.ts'
import { EntiaError } from '../base/entia-error.ts'
import { inspect } from '../base/inspect.ts'
import type { Json } from '../base/json.ts'
import { shortly } from '../base/known-options.ts'
import { refuseMisfit } from '../base/option-shapes.ts'
import { canonicalRead, checkedDelta, type Corrupt, parsedLine, shaped } from './saved-shapes.ts'
import { LinesHash } from '../base/sha256.ts'
import { type SnapshotEnd, snapshotFormat, type SnapshotHead } from './snapshot.ts'

export interface Saved {
  readonly head: SnapshotHead
  readonly content: readonly EntityLine[]
  /** Anchors the journal behind it. */
  readonly sha256: string
}

type EntityLine =
  | { readonly entity: Entity; readonly has: Readonly<Record<string, Json>> }
  | { readonly entity: Entity; readonly log: string; readonly more: readonly Json[] }

/** @throws `corrupt-snapshot`, `newer-version` */
export function readSnapshot(lines: Iterable<string>): Saved {
  const hash = new LinesHash()
  const read: unknown[] = []
  let end: Partial<SnapshotEnd['end']> | undefined
  for (const line of lines) {
    const where = placeOf(read.length)
    if (line === '') continue
    if (end !== undefined) throw corrupt(where, 'there is more behind the end')
    const parsed = parsedLine(line, corruptAt(where))
    if ('end' in parsed) {
      end = { ...(parsed['end'] as Partial<SnapshotEnd['end']> | null) }
      continue
    }
    if (read.length === 0) checkFormat(parsed, where)
    hash.add(line)
    read.push(parsed)
  }
  const count = read.length
  if (count === 0) throw corrupt('snapshot', 'it is empty')
  if (end === undefined) throw corrupt('snapshot', `its last line is missing after ${count} lines: it was cut off`)
  if (end.lines !== count)
    throw corrupt('snapshot', `it has ${count} lines before its last, which says ${inspect(end.lines)}`)
  const sha256 = hash.end()
  if (end.sha256 !== sha256) throw corrupt('snapshot', 'its content does not match its checksum: it was edited')
  return { ...contentOf(read), sha256 }
}

function contentOf([first, ...others]: readonly unknown[]): Omit<Saved, 'sha256'> {
  const head = headIn(first, placeOf(0))
  const content: EntityLine[] = []
  for (const [index, read] of others.entries()) {
    const where = placeOf(index + 1)
    content.push(entityLine(canonicalRead(read, corruptAt(where)), head, content.at(-1), where))
  }
  return { head, content }
}

function placeOf(index: number): string {
  return `snapshot line ${index + 1}`
}

export function readHead(line: string): SnapshotHead {
  const where = placeOf(0)
  const parsed = parsedLine(line, corruptAt(where))
  checkFormat(parsed, where)
  return headIn(parsed, where)
}

function checkFormat(parsed: Readonly<Record<string, unknown>>, where: string): void {
  const format = parsed['entia']
  if (typeof format !== 'number') throw corrupt(where, "it is no head of a snapshot (no field 'entia')")
  if (format > snapshotFormat) {
    throw new EntiaError(
      'newer-version',
      `${where}: the snapshot has format ${format}, this version reads up to ${snapshotFormat}. Update entia.`,
    )
  }
}

function headIn(read: unknown, where: string): SnapshotHead {
  return shaped('head', canonicalRead(read, corruptAt(where)), corruptAt(where))
}

/** Entities ascend; further items of a log follow their entity's line. */
function entityLine(parsed: Json, head: SnapshotHead, before: EntityLine | undefined, where: string): EntityLine {
  const isFirst = typeof parsed === 'object' && parsed !== null && 'has' in parsed
  const line = isFirst ? shaped('entity', parsed, corruptAt(where)) : shaped('items', parsed, corruptAt(where))
  const { entity } = line
  if (entity >= head.header.next) {
    throw corrupt(where, `entity ${entity}: the snapshot has numbers below ${head.header.next} only`)
  }
  if (isFirst && before !== undefined && entity <= before.entity) {
    throw corrupt(where, `entity ${entity} must stand before entity ${before.entity}, and once`)
  }
  if (!isFirst && entity !== before?.entity) {
    throw corrupt(where, `entity ${entity}: further items must stand behind its own line`)
  }
  return line
}

/**
 * Applies snapshot and ticks to an empty world; then migrates older values and checks all.
 *
 * @throws `unknown-component`, `newer-version`, `corrupt-snapshot`, `corrupt-journal`, `invalid-value`, `unknown-entity`
 */
export function fill(core: Core, { head, content }: Saved, deltas: readonly Delta[]): void {
  const versions = savedVersions(head, deltas)
  checkVersions(core, head.name, versions)
  content.forEach((line, index) => place(core, line, placeOf(index + 1), head.components))
  core.header = head.header
  // Inputs that had arrived before the snapshot are part of the first tick after it.
  if (deltas.length === 0) for (const input of head.inbox) core.inbox.push(input)
  for (const delta of deltas) {
    if (delta.tick !== core.tick + 1) {
      const what = `Tick ${delta.tick} of world '${head.name}' does not follow tick ${core.tick}`
      throw new EntiaError('corrupt-journal', `${what}. Pass every tick since the snapshot, oldest first.`)
    }
    core.apply(delta, `tick ${delta.tick} of world '${head.name}'`)
    core.header = delta
  }
  for (const column of core.state.columns()) check(core, column, versions[column.token.name])
}

/** @throws `corrupt-journal` for wrong shapes */
export function checkedDeltas(deltas: Iterable<Delta>): Delta[] {
  return Array.from(deltas, (delta, index) => {
    return checkedDelta(delta, (problem) => {
      return new EntiaError('corrupt-journal', `delta ${index}: ${problem}. Nothing was restored; use another copy.`)
    })
  })
}

/** Component versions of a snapshot and its ticks. @throws `corrupt-journal` if one has two versions */
export function savedVersions(head: SnapshotHead, deltas: readonly Delta[]): Readonly<Record<string, number>> {
  const versions: Record<string, number> = { ...head.components }
  for (const delta of deltas) {
    for (const name in delta.set) {
      const version = delta.versions?.[name] ?? 1
      versions[name] ??= version
      if (versions[name] === version) continue
      const what = `Tick ${delta.tick} of world '${head.name}' holds '${name}' in version ${version}, what was before it ${versions[name]}`
      throw new EntiaError('corrupt-journal', `${what}. After a migration, ticks go on from a new snapshot.`)
    }
  }
  return versions
}

function place(core: Core, line: EntityLine, where: string, versions: Readonly<Record<string, number>>): void {
  const { entity } = line
  const tokenOf = (name: string): Component => {
    const token = core.token(name)
    if (versions[name] !== undefined) return token
    throw corrupt(where, `entity ${entity}, component ${name}: the first line must name its version in 'components'`)
  }
  if ('has' in line) {
    core.state.spawn(entity)
    for (const [name, value] of Object.entries(line.has)) {
      const token = tokenOf(name)
      const misfit = misfitOf(token, value)
      if (misfit !== undefined) throw corrupt(where, misfit)
      core.state.put(entity, token, value)
    }
    return
  }
  const token = tokenOf(line.log)
  if (token.kind !== 'log') throw corrupt(where, `'${token.name}' was a log, and is a ${token.kind} here`)
  if (core.state.get(entity, token) === undefined) {
    throw corrupt(where, `entity ${entity} has no ${token.name} to which these items could belong`)
  }
  core.state.append(entity, token, line.more)
}

export function tokensOf(components: Iterable<Component> | Readonly<Record<string, unknown>>): Component[] {
  refuseMisfit('World', 'components', components, { wanted: 'a list or a module of components', fits: isObject })
  if (!(Symbol.iterator in components)) return Object.values(components).filter(isComponent)
  return Array.from(components as Iterable<unknown>, (token, index) => {
    if (isComponent(token)) return token
    const what = `World: components[${index}] must be a component, got ${shortly(token)}`
    throw new EntiaError('invalid-argument', `${what}. Make one with defineComponent.`, { index })
  })
}

function checkVersions(core: Core, world: string, versions: Readonly<Record<string, number>>): void {
  for (const [name, version] of Object.entries(versions)) {
    const token = core.find(name)
    const what = `What is saved of world '${world}' holds component '${name}'`
    const details = { component: name }
    if (token === undefined) {
      throw new EntiaError('unknown-component', `${what}, which is not known here. Pass it in 'components'.`, details)
    }
    const known = token.version
    if (version > known) {
      const advice = `this program knows up to ${known}. Restore it with the newer program.`
      throw new EntiaError('newer-version', `${what} in version ${version}, ${advice}`, details)
    }
    if (version < known && (token.kind === 'tag' || token.migrate === undefined)) {
      const advice = `and the component (version ${known}) has no 'migrate'. Define one.`
      throw new EntiaError('corrupt-snapshot', `${what} in version ${version}, ${advice}`, details)
    }
  }
}

function check(core: Core, column: Column, version = column.token.version): void {
  const { token } = column
  if (token.kind === 'tag') return
  for (const row of column.rows()) {
    const saved = column.get(row) as Json
    const entity = core.state.entities.at(row)
    const whose = `entity ${entity}, component ${token.name}`
    const value = version < token.version ? migrated(token, saved, version, whose) : saved
    const items = token.kind === 'log' ? (value as readonly Json[]) : [value]
    const refusal = (error: z.ZodError): EntiaError => unfit(token, whose, error)
    const read = items.map((item) => readBySchema(token, item, () => whose, refusal))
    const isChanged = value !== saved || read.some((item, index) => item !== items[index])
    const present = token.kind === 'log' ? read : (read[0] as Json)
    if (isChanged) core.state.put(entity, token, present)
    core.checkReference(entity, token, present)
  }
}

function unfit({ name, version }: Component, whose: string, problem: z.ZodError): EntiaError {
  const { code, details, message } = invalidValue(whose, problem)
  const advice = `If the schema of ${name} has changed since this was saved, define it with { version: ${version + 1}, migrate }`
  const what = message.replace('The write was refused.', 'Nothing was restored.')
  return new EntiaError(code, `${what} ${advice}: migrate makes a present value of a saved one.`, details)
}

function migrated(token: Log | Value, saved: Json, version: number, whose: string): Json {
  const migrate = token.migrate as NonNullable<typeof token.migrate>
  let value: unknown
  try {
    value =
      token.kind === 'log' ? (saved as readonly Json[]).map((item) => migrate(item, version)) : migrate(saved, version)
  } catch (error) {
    const reason = error instanceof Error ? error.message : inspect(error)
    const what = `${whose}: 'migrate' from version ${version} threw: ${reason}`
    throw new EntiaError('invalid-value', `${what}. Nothing was restored.`, {}, { cause: error })
  }
  return canonical(value, () => `${whose}, migrated from version ${version}`)
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function isComponent(value: unknown): value is Component {
  return typeof value === 'function' && 'kind' in value && 'version' in value
}

function corruptAt(where: string): Corrupt {
  return (problem) => corrupt(where, problem)
}

function corrupt(where: string, what: string): EntiaError {
  return new EntiaError('corrupt-snapshot', `${where}: ${what}. Nothing was restored; use another copy.`)
}
