import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, normalize, parse, relative, sep } from 'node:path'

/** What a path is that has no link before its last name: there or not, or a link to a target. */
export type Found = 'there' | 'missing' | { readonly target: string }

/** Looks at a path without following it. */
export type Look = (path: string) => Found | Promise<Found>

/** As many as systems follow. */
const maxLinks = 40

/**
 * Where an absolute path leads: all links are followed, also those whose target is not there yet, and `..` behind a link leaves
 * the folder that the link leads to. The path need not be there.
 *
 * @param look how names are looked at. @default on the disk; names are then spelled as the disk has them, too
 */
export async function leadsTo(path: string, look?: Look): Promise<string> {
  if (look !== undefined) return followed(path, look)
  // One call, where all of it is there.
  return realpath(path).catch(async () => spelled(await followed(path, lookOnDisk)))
}

/**
 * All places where an absolute path leads: as a system reads it, and as programs do that take `..` away first. They differ where
 * `..` stands behind a link.
 */
export async function placesOf(path: string, look?: Look): Promise<readonly string[]> {
  const read = await leadsTo(normalize(path), look)
  return path.includes('..') ? [...new Set([read, await leadsTo(path, look)])] : [read]
}

/** Is an absolute path the folder, or below it? Both are compared as they are written. */
export function contains(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function followed(path: string, look: Look): Promise<string> {
  const waiting = namesOf(path)
  let place = parse(path).root
  let missing = 0
  let links = 0
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name === '..') {
      place = dirname(place)
      if (missing > 0) missing--
    } else if (missing > 0) {
      // Below what is not there is nothing to look at.
      place = join(place, name)
      missing++
    } else {
      const found = await look(join(place, name))
      if (typeof found === 'object' && links++ < maxLinks) {
        if (isAbsolute(found.target)) place = parse(found.target).root
        waiting.push(...namesOf(found.target))
      } else {
        place = join(place, name)
        if (found === 'missing') missing = 1
      }
    }
  }
  return place
}

/** Names of a path, the last one first. */
function namesOf(path: string): string[] {
  const names = path.slice(parse(path).root.length).split(sep === '/' ? '/' : /[\\/]/)
  return names.filter((name) => name !== '' && name !== '.').toReversed()
}

/** Names that these errors are of are not there; any other error is one of a name that is no link. */
const missingCodes = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'])

async function lookOnDisk(path: string): Promise<Found> {
  try {
    return { target: await readlink(path) }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return missingCodes.has(code) ? 'missing' : 'there'
  }
}

/** A path without links, in the case that the part has which is there. */
async function spelled(place: string): Promise<string> {
  const parent = dirname(place)
  return realpath(place).catch(async () => (parent === place ? place : join(await spelled(parent), basename(place))))
}
