import { createHash } from 'node:crypto'
import { decodeName, encodeName } from '../file-name.ts'

/** A world as the tables name it. */
export interface WorldPlace {
  readonly world: string
  readonly root: string
  /** Of both, as its key. */
  readonly place: string
}

export function placeOf(world: string, root: string = world): WorldPlace {
  return { world: encodeName(world), root: encodeName(root), place: keyOf(encodeName(root), encodeName(world)) }
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
  return [8, 12, 16, 20, 32].map((end, index) => digits.slice([0, 8, 12, 16, 20][index], end)).join('-')
}

export function nameOf(encoded: unknown): string {
  return decodeName(String(encoded)) ?? ''
}

/** Text that was kept as bytes, since it may hold NUL. */
export function textIn(bytes: unknown): string {
  return bytes instanceof Buffer ? bytes.toString() : ''
}

/** The hash of a name, as a number that Postgres locks by. */
export function lockClassOf(name: string): number {
  return createHash('sha256').update(`entia:${name}`).digest().readInt32BE(0)
}
