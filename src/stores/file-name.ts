import { createHash } from 'node:crypto'

/** With the longest suffix that SQLite adds, a name stays within 143 bytes, the least of the usual limits. */
const maxStemLength = 125
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)$/

/**
 * Any string, written with lower-case letters, digits, `-`, `_` and `%` alone, so that file systems which ignore case
 * or normalize Unicode keep two names apart. Reversible by {@link decodeName}.
 */
export function encodeName(name: string): string {
  const encoded = name.replace(/[^a-z0-9_-]/g, escapeUnit)
  return deviceName.test(encoded) ? escapeUnit(encoded) + encoded.slice(1) : encoded
}

/** The name that was encoded; `undefined` if no name is encoded like this. */
export function decodeName(encoded: string): string | undefined {
  const name = encoded.replace(/%([0-9a-f]{4})/g, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)))
  return name !== '' && encodeName(name) === encoded ? name : undefined
}

/** A world's file name without suffix: its encoded name, or where that is too long its beginning, `~` and a hash. */
export function fileStem(world: string): string {
  const encoded = encodeName(world)
  if (encoded.length <= maxStemLength) return encoded
  return `${encoded.slice(0, 60)}~${createHash('sha256').update(encoded).digest('hex')}`
}

function escapeUnit(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
