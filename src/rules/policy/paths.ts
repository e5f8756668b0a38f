import type { PathStyle } from '../../protocol/policy.ts'
import { oncePerValue } from '../once-per.ts'
import { canMatch, isPattern, plainText, wild } from './glob.ts'

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
  return path.length > maxKnownChars ? readSegments(path, pathStyle) : segments[pathStyle](path)
}

// The same folders are compared with every call.
const maxKnownChars = 200
const segments: Readonly<Record<PathStyle, (path: string) => readonly string[]>> = {
  posix: oncePerValue((path: string) => readSegments(path, 'posix')),
  darwin: oncePerValue((path: string) => readSegments(path, 'darwin')),
  win32: oncePerValue((path: string) => readSegments(path, 'win32')),
}

function readSegments(path: string, pathStyle: PathStyle): readonly string[] {
  const names: string[] = []
  const slashed = pathStyle === 'win32' ? path.replaceAll('\\', '/') : path
  for (const name of slashed.split('/')) {
    if (name === '..') leave(names)
    else if (name !== '' && name !== '.') names.push(pathStyle === 'posix' ? name : folded(name, pathStyle))
  }
  return names
}

/** Above a folder that is not known lies one that is not known either. */
function leave(names: string[]): void {
  if (names.pop()?.includes(wild.unknown) === true) names.push(wild.unknown)
}

function folded(name: string, pathStyle: PathStyle): string {
  const folding = name.normalize('NFC').toUpperCase().toLowerCase()
  // Windows opens `.env. ` and `.env::$DATA` as `.env`; the colon of a drive stays.
  return pathStyle === 'win32' ? folding.replace(/(?<=..):.*$/, '').replace(/(?<=[^. ])[. ]+$/, '') : folding
}

/**
 * Does a path begin with names of which something is known? One that does not, such as that of `"$X"/tmp`, may lie anywhere. So it
 * names no folder, neither a listed one nor one above that: only the names behind its beginning say something (`goesOnAs`).
 */
export function isAnchored([top]: readonly string[]): boolean {
  return top?.startsWith(wild.unknown) !== true
}

/** Is a path above a folder, or can a pattern be? */
export function isAbove(path: readonly string[], folder: readonly string[]): boolean {
  return path.length < folder.length && liesIn(path, folder.slice(0, path.length))
}

/** Is a path the folder, or below it, or can a pattern be? Whole names are compared. */
export function liesIn(path: readonly string[], folder: readonly string[]): boolean {
  return (
    folder.length <= path.length &&
    isAnchored(path) &&
    folder.every((name, at) => {
      const given = path[at] as string
      return name === given || (isPattern(given) && canMatch(given, name))
    })
  )
}

/** Has a path that may begin anywhere the folder's own name behind that: `"$X"/secret/plan.txt`? */
export function goesOnAs(path: readonly string[], folder: readonly string[]): boolean {
  const name = folder.at(-1)
  if (isAnchored(path) || name === undefined) return false
  return path.some((given) => given === name || (isTelling(given) && canMatch(given, name)))
}

/** Is a pattern more than any name? */
function isTelling(name: string): boolean {
  return isPattern(name) && plainText(name).replace(/\W/g, '').length > 1
}
