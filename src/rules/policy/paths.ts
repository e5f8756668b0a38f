import type { PathStyle } from '../../protocol/policy.ts'
import { canMatch, isPattern } from './glob.ts'

/** Where a call stands. */
export interface Base {
  /** The user's home folder, absolute. */
  readonly home: string
  /** The chat session's working folder, absolute. */
  readonly cwd: string
  /** @default 'posix' */
  readonly pathStyle?: PathStyle | undefined
}

/** Absolute, with `~` expanded; `.`, `..` and links are left as they are. */
export function absolute(path: string, { home, cwd, pathStyle = 'posix' }: Base): string {
  const slashed = pathStyle === 'win32' ? path.replaceAll('\\', '/') : path
  if (slashed === '~') return home
  if (slashed.startsWith('~/')) return `${home}/${slashed.slice(2)}`
  if (slashed.startsWith('/') || (pathStyle === 'win32' && /^[a-z]:/i.test(slashed))) return slashed
  return `${cwd}/${slashed}`
}

/** The names in an absolute path, as they are compared: without `.` and `..`, and folded where case is ignored. */
export function segmentsOf(path: string, pathStyle: PathStyle = 'posix'): readonly string[] {
  const segments: string[] = []
  const slashed = pathStyle === 'win32' ? path.replaceAll('\\', '/') : path
  for (const name of slashed.split('/')) {
    if (name === '..') segments.pop()
    else if (name !== '' && name !== '.') segments.push(pathStyle === 'posix' ? name : folded(name, pathStyle))
  }
  return segments
}

function folded(name: string, pathStyle: PathStyle): string {
  const folding = name.normalize('NFC').toUpperCase().toLowerCase()
  // Windows opens `.env. ` and `.env::$DATA` as `.env`; the colon of a drive stays.
  return pathStyle === 'win32' ? folding.replace(/(?<=..):.*$/, '').replace(/(?<=[^. ])[. ]+$/, '') : folding
}

/** Is a path the folder, or below it, or can a pattern be? Whole names are compared. */
export function liesIn(path: readonly string[], folder: readonly string[]): boolean {
  return (
    folder.length <= path.length &&
    folder.every((name, at) => {
      const given = path[at] as string
      return isPattern(given) ? canMatch(given, name) : name === given
    })
  )
}
