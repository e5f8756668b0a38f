import { lstatSync, readlinkSync } from 'node:fs'
import { lstat, readlink } from 'node:fs/promises'
import { dirname, normalize } from 'node:path'
import type { PathStyle } from '../../protocol/policy.ts'
import { isPattern } from '../../rules/policy/glob.ts'
import { closedBy, ClosedPlaces } from '../../rules/policy/closed-places.ts'
import { type Found, leadsTo, placesOf } from '../../tools/files/leads-to.ts'
import type { ToolContext } from '../../tools/port.ts'

const styles: Readonly<Partial<Record<NodeJS.Platform, PathStyle>>> = { darwin: 'darwin', win32: 'win32' }

/** How this system compares paths. */
export const pathStyle = styles[process.platform] ?? 'posix'

/** What a policy closes to calls that do not name it, as it lies on the disk; nothing without a policy. */
export async function closedPlaces(policy: ToolContext['policy']): Promise<ClosedPlaces> {
  if (policy === undefined) return new ClosedPlaces([], pathStyle)
  const { config, configFolder } = policy
  const places = closedBy({ ...policy, pathStyle }, config, configFolder).map(async ({ kind, path }) => {
    const real = path.includes('\0') ? [] : await placesOf(path)
    return real.map((one) => ({ kind, path: one }))
  })
  return new ClosedPlaces((await Promise.all(places)).flat(), pathStyle)
}

/** Longest path that is looked for on the disk: that of a shell body in a deep folder. What is longer opens nothing. */
const maxPathChars = 32_768

/**
 * Looks up where absolute paths lead on the disk. Each name is looked for once; make a new one for the state of later.
 *
 * What a call names may lie on a disk that does not answer, and must not stop the program: it is looked up in another thread.
 * Paths of lists, and names that the working folder does not have, are looked up in this one, in a tenth of the time.
 */
export class RealPaths {
  readonly #found = new Map<string, Promise<Found> | Found>()
  readonly #listed: ReadonlySet<string>
  readonly #folder: string | undefined

  constructor({ folder, listed = [] }: { readonly listed?: Iterable<string>; readonly folder?: string } = {}) {
    this.#listed = new Set(listed)
    this.#folder = folder
  }

  /**
   * Where a path leads, when that differs from how it reads: links are followed. With `..` behind a link there are two answers, as
   * the system and as programs take it; both are given. Of a pattern, only the folders before it are followed.
   */
  async leadsTo(path: string): Promise<readonly string[]> {
    if (path.includes('\0') || path.length > maxPathChars) return []
    const read = normalize(path)
    const found = new Set([await this.#follow(read, path)])
    if (path.includes('..')) found.add(await this.#follow(path, path))
    found.delete(read)
    found.delete(read.replace(/\/$/, ''))
    return [...found]
  }

  async #follow(path: string, given: string): Promise<string> {
    const names = path.split('/')
    const at = names.findIndex(isPattern)
    const isListed = this.#listed.has(given)
    const place = await leadsTo(at === -1 ? path : names.slice(0, at).join('/') || '/', (name) =>
      this.#look(name, isListed),
    )
    return at === -1 ? place : [place === '/' ? '' : place, ...names.slice(at)].join('/')
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
