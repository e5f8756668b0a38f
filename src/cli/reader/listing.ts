import type { AnsweredCall } from './answered-calls.ts'

/** Most entries that the script lists at once. */
export const maxListed = 1_000

/** What `list_files` gave: folders end in `/`, notes are left out. */
export function entriesOf({ text }: Pick<AnsweredCall, 'text'>): string[] {
  return text.split('\n').filter((row) => row !== '' && !/^\[.*\]$/.test(row))
}

/** The files of it. */
export function filesOf(listing: Pick<AnsweredCall, 'text'>): string[] {
  return entriesOf(listing).filter((entry) => !entry.endsWith('/'))
}

/** Files and folders as one pattern of the file tools; `undefined` stands for all. */
export function globOf(places: readonly string[]): string | undefined {
  if (places.length === 0) return undefined
  const globs = places.map((place) => `/${place.replaceAll(/[^\p{L}\p{N}/._-]/gu, '?')}`)
  return globs.length === 1 ? globs[0] : `{${globs.join(',')}}`
}
