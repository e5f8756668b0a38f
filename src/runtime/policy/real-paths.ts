import { type Dirent, lstatSync, readlinkSync } from 'node:fs'
import { lstat, readdir, readlink, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, normalize } from 'node:path'
import type { PathStyle } from '../../protocol/policy.ts'
import { pathArguments } from '../../rules/policy/call.ts'
import { PlacesOfCall } from '../../rules/policy/call-places.ts'
import { canMatch, isPattern } from '../../rules/policy/glob.ts'
import { absolute, isAnchored } from '../../rules/policy/paths.ts'
import { closedBy, ClosedPlaces } from '../../rules/policy/closed-places.ts'
import { type Found, leadsTo, type Look, placesOf } from '../../tools/files/leads-to.ts'
import type { ToolContext } from '../../tools/port.ts'
import type { JsonObject } from '../../base/json.ts'

const styles: Readonly<Partial<Record<NodeJS.Platform, PathStyle>>> = { darwin: 'darwin', win32: 'win32' }

/** How this system compares paths. */
export const pathStyle = styles[process.platform] ?? 'posix'

/** What a policy closes to calls that do not name it, as it lies on the disk; nothing without a policy. */
export async function closedPlaces(policy: ToolContext['policy']): Promise<ClosedPlaces> {
  if (policy === undefined) return new ClosedPlaces([], pathStyle)
  const places = closedBy({ ...policy, pathStyle }, policy.config, policy).map(async ({ kind, path }) => {
    const real = path.includes('\0') ? [] : await placesOf(path)
    return real.map((one) => ({ kind, path: one }))
  })
  return new ClosedPlaces((await Promise.all(places)).flat(), pathStyle)
}

/** Longest path that is looked for on the disk: that of a shell body in a deep folder. What is longer opens nothing. */
const maxPathChars = 32_768

/** Most names that the patterns of a call match and that are followed. */
const maxMatches = 500

/**
 * Looks up where absolute paths lead on the disk. Each name is looked for once; make a new one for the state of later.
 *
 * What a call names may lie on a disk that does not answer, and must not stop the program: it is looked up in another thread.
 * Paths of lists, and names that the working folder does not have, are looked up in this one, in a tenth of the time.
 */
export class RealPaths {
  readonly #found = new Map<string, Promise<Found> | Found>()
  readonly #entries = new Map<string, Promise<readonly Dirent[]>>()
  #matchesLeft = maxMatches
  readonly #listed: ReadonlySet<string>
  readonly #folder: string | undefined

  constructor({ folder, listed = [] }: { readonly listed?: Iterable<string>; readonly folder?: string } = {}) {
    this.#listed = new Set(listed)
    this.#folder = folder
  }

  /**
   * Where a path leads, when that differs from how it reads: links are followed. With `..` behind a link there are two answers, as
   * the system and as programs take it; both are given. A pattern leads to where the links lead that it matches, too. A path that
   * begins with what is not known leads to nothing that can be looked up.
   */
  async leadsTo(path: string): Promise<readonly string[]> {
    if (path.includes('\0') || path.length > maxPathChars || !isAnchored(path.split('/').slice(1))) return []
    const read = normalize(path)
    const isListed = this.#listed.has(path)
    const found = new Set(await this.#follow(read, isListed))
    if (path.includes('..')) for (const place of await this.#follow(path, isListed)) found.add(place)
    found.delete(read)
    found.delete(read.replace(/\/$/, ''))
    return [...found]
  }

  async #follow(path: string, isListed: boolean): Promise<readonly string[]> {
    const look: Look = (name) => this.#look(name, isListed)
    const names = path.split('/')
    const at = names.findIndex(isPattern)
    if (at === -1) return [await leadsTo(path, look)]
    const place = await leadsTo(names.slice(0, at).join('/') || '/', look)
    const [pattern = '', ...rest] = names.slice(at)
    const folder = place === '/' ? '' : place
    const entries = (await this.#entriesOf(place)).filter(({ name }) => canMatch(pattern, name))
    const links = entries.filter((entry) => entry.isSymbolicLink())
    // A folder that is matched last, or a link to one, is not read by that.
    const matched =
      rest.length > 0
        ? [...links, ...entries.filter((entry) => entry.isDirectory())]
        : await only(
            links,
            async ({ name }) => (await stat(`${folder}/${name}`).catch(() => undefined))?.isFile() === true,
          )
    const ways = matched.slice(0, this.#matchesLeft).map(({ name }) => [folder, name, ...rest].join('/'))
    this.#matchesLeft -= ways.length
    const ends = await Promise.all(
      ways.map(async (way) => (await this.#follow(way, isListed)).filter((end) => end !== way)),
    )
    return [[folder, pattern, ...rest].join('/'), ...ends.flat()]
  }

  #entriesOf(folder: string): Promise<readonly Dirent[]> {
    let entries = this.#entries.get(folder)
    if (entries === undefined)
      this.#entries.set(folder, (entries = readdir(folder, { withFileTypes: true }).catch(() => [])))
    return entries
  }

  #look(path: string, isListed: boolean): Promise<Found> | Found {
    let found = this.#found.get(path)
    if (found === undefined) this.#found.set(path, (found = this.#lookUp(path, isListed)))
    return found
  }

  #lookUp(path: string, isListed: boolean): Promise<Found> | Found {
    const isHere = isListed || dirname(path) === this.#folder
    const found = isHere ? foundHere(path) : undefined
    return found !== undefined && (isListed || found === 'missing') ? found : foundElsewhere(path)
  }
}

async function foundElsewhere(path: string): Promise<Found> {
  try {
    return (await lstat(path)).isSymbolicLink() ? { target: await readlink(path) } : 'there'
  } catch {
    return 'missing'
  }
}

function foundHere(path: string): Found {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return 'missing'
    return stats.isSymbolicLink() ? { target: readlinkSync(path) } : 'there'
  } catch {
    return 'missing'
  }
}

async function only<Item>(items: readonly Item[], fits: (item: Item) => Promise<boolean>): Promise<readonly Item[]> {
  const kept = await Promise.all(items.map(fits))
  return items.filter((_, at) => kept[at])
}

/** Where the paths among the arguments of a call lead now, by the paths as given: those that are links or lie behind one. */
export async function linkedPlaces(given: JsonObject, cwd: string): Promise<Readonly<Record<string, string>>> {
  const call = { tool: '', arguments: given, channel: 'cli' as const, cwd, home: homedir() }
  const disk = new RealPaths({ folder: cwd })
  const paths = new Set([cwd, ...pathArguments(call).map((path) => absolute(path, call))])
  const real = await Promise.all([...paths].map(async (path) => [path, await disk.leadsTo(path)] as const))
  return new PlacesOfCall({ ...call, facts: { real: Object.fromEntries(real) } }).links()
}
