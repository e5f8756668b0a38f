import { canMatch, isPattern, wild } from './glob.ts'
import { segmentsOf } from './paths.ts'

/** Most places that a path is followed to. */
const maxPlaces = 16

type Names = readonly string[]

/**
 * Where a path leads through links of a process: `/proc/self/cwd`, `/proc/1/root`, `/dev/fd`. They differ from process to process, so
 * what the disk says of them counts for Entia's own alone.
 *
 * @param folders those that the process may stand in
 * @returns absolute paths; none for one that goes through no such link
 */
export function processPlaces(path: string, folders: readonly string[]): readonly string[] {
  const [, ...names] = path.split('/')
  const top = names.find((name) => name !== '' && name !== '.')
  if (top === undefined || top.startsWith(wild.unknown) || !(is(top, 'proc') || is(top, 'dev') || names.includes('..')))
    return []
  let places: readonly Place[] = [{ names: [], isLinked: false }]
  for (const [at, name] of names.entries()) {
    const isLast = names.slice(at + 1).every((one) => one === '' || one === '.')
    places = places.flatMap((place) => stepped(place, { name, folders, isLast })).slice(0, maxPlaces)
  }
  return [...new Set(places.filter(({ isLinked }) => isLinked).map((place) => `/${place.names.join('/')}`))]
}

interface Place {
  readonly names: Names
  /** A link of a process has led to it. */
  readonly isLinked: boolean
}

interface Step {
  readonly name: string
  readonly folders: readonly string[]
  readonly isLast: boolean
}

function stepped({ isLinked, names }: Place, { folders, isLast, name }: Step): readonly Place[] {
  if (name === '' || name === '.') return [{ names, isLinked }]
  if (name === '..') {
    const above = names.slice(0, -1)
    return [{ names: names.at(-1)?.includes(wild.unknown) === true ? [...above, wild.unknown] : above, isLinked }]
  }
  const here = [...names, name]
  const ends = linksOf(here, folders, isLast).map((end) => ({ names: end, isLinked: true }))
  // What a pattern matches may be something else.
  return ends.length === 0 || here.some(isPattern) ? [{ names: here, isLinked }, ...ends] : ends
}

/** Where a name leads that is a link of a process. */
function linksOf(names: Names, folders: readonly string[], isLast: boolean): readonly Names[] {
  const [top = '', second = '', third = ''] = names
  if (names.length === 2 && is(top, 'dev')) {
    if (is(second, 'fd')) return [['proc', 'self', 'fd']]
    return !isLast && streams.some((stream) => is(second, stream)) ? anywhere : []
  }
  if (!is(top, 'proc')) return []
  if (names.length === 2) {
    if (is(second, 'thread-self')) return [['proc', 'self', 'task', 'self']]
    return is(second, 'net') ? [['proc', 'self', 'net']] : []
  }
  if (!isProcess(second)) return []
  const [owner, link = '', file, more] =
    is(third, 'task') && isProcess(names[3] ?? '') ? names.slice(3) : names.slice(1)
  if (owner === undefined || more !== undefined) return []
  if (file !== undefined) return is(link, 'fd') && !isLast ? anywhere : []
  if (is(link, 'cwd'))
    return [...folders.map((folder) => segmentsOf(folder)), ...(second === 'self' ? [] : [[wild.unknown]])]
  return is(link, 'root') ? [[]] : []
}

const streams = ['stdin', 'stdout', 'stderr']
/** Of an open folder it is not known which it is; the root is the one that says nothing by the names behind it. */
const anywhere: readonly Names[] = [[wild.unknown], []]

function isProcess(name: string): boolean {
  const isMatching = isPattern(name) && ['self', '1', '1000'].some((one) => canMatch(name, one))
  return name === 'self' || /^\d+$/.test(name) || isMatching
}

/** Is it this name, or a pattern that can match it? What is wholly unknown says nothing. */
function is(given: string, name: string): boolean {
  return given === name || (isPattern(given) && given !== wild.unknown && canMatch(given, name))
}
