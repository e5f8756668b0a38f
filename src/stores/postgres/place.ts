import { createHash } from 'node:crypto'
import { decodeName, encodeName } from '../file-name.ts'
import type { Placement } from './dispatcher.ts'
import { pack } from './packed.ts'

/** A world as the tables name it. */
export interface WorldPlace {
  readonly world: string
  readonly root: string
  /** Of both, as its key. */
  readonly place: string
}

export function placeOf(world: string, root: string = world): WorldPlace {
  const inTables = encodeName(root)
  const name = world === root ? inTables : encodeName(world)
  return { world: name, root: inTables, place: keyOf(inTables, name) }
}

/** A world with its first snapshot, as `place_world` takes it. */
export function placedWorld({ isBusy, lines, root, tick, world }: Placement): readonly unknown[] {
  const at = placeOf(world, root)
  const texts = [...lines]
  const { body, bytes } = pack(texts.map((line) => `${line}\n`).join(''))
  return [at.place, at.root, at.world, tick, isBusy, texts.length, bytes, body]
}

/** The key of a text or a transcript of a root, or of one letter of many. */
export function keyIn(root: string, name: string): string {
  return keyOf(encodeName(root), name)
}

/** 128 bits of names that may be longer than an index takes, as a UUID. */
export function keyOf(...names: readonly string[]): string {
  const hash = createHash('sha256')
  for (const name of names) hash.update(`${name.length}:${name}`)
  const digits = hash.digest('hex')
  const part = (from: number, to: number): string => digits.slice(from, to)
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`
}

export function nameOf(encoded: unknown): string {
  const text = String(encoded)
  // Most names of sessions are written as they are.
  return text.includes('%') ? (decodeName(text) ?? '') : text
}

/** Text that was kept as bytes, since it may hold NUL. */
export function textIn(bytes: unknown): string {
  return bytes instanceof Buffer ? bytes.toString() : ''
}

/** The hash of a name, as a number that Postgres locks by. */
export function lockClassOf(name: string): number {
  return createHash('sha256').update(`entia:${name}`).digest().readInt32BE(0)
}

/** A database, without user and password. */
export function nameOfDatabase(database: string): string {
  const { host, pathname } = new URL(database)
  return `Postgres ${host}${decodeURIComponent(pathname)}`
}
