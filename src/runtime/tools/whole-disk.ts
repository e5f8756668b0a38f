import { hasCode } from '../../base/unless-missing.ts'
import type { BigIntStats, Stats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { dirname, join, parse, relative, resolve, sep } from 'node:path'
import { checkPath, type FileReach, type Place } from '../../tools/files/confined-folder.ts'
import { contains, leadsTo } from '../../tools/files/leads-to.ts'
import { absolute } from '../../rules/policy/paths.ts'
import { Refusal } from '../../tools/files/refusal.ts'
import type { ClosedPlaces } from '../../rules/policy/closed-places.ts'
import type { ToolContext } from '../../tools/port.ts'
import { closedPlaces, pathStyle } from '../policy/real-paths.ts'
import type { ToolSettings } from './settings.ts'

/** Where a path leads, whether or not something is there. */
export interface Destination {
  /** Absolute, with no link in it. */
  readonly realPath: string
  /** What is there, if anything. */
  readonly stats: Stats | undefined
}

type DiskSettings = Pick<ToolSettings, 'cwd' | 'home' | 'fileTimes'>

/**
 * The reach of built-in tools: every path, relative ones from the working folder, `~` from the home folder. Whether a
 * call may touch a path is the policy's to decide, before the tool runs. Models read paths inside the working folder
 * from there, all others as absolute paths.
 */
export class WholeDisk implements FileReach {
  readonly #settings: DiskSettings
  /** The working folder without links in it, once a path was looked for. */
  #cwd: string

  constructor(settings: DiskSettings) {
    this.#settings = settings
    this.#cwd = settings.cwd
  }

  async find(path: string): Promise<Place> {
    this.#cwd = await realpath(this.#settings.cwd)
    const realPath = await leadsTo(this.absolute(path))
    const stats = await stat(realPath)
    const root = await this.#rootOf(stats.isDirectory() ? realPath : dirname(realPath))
    return { root, realPath, path: slashed(relative(root, realPath)), stats }
  }

  /** Like `find`, for what may not be there yet. */
  async locate(path: string): Promise<Destination> {
    const realPath = await leadsTo(this.absolute(path))
    const stats = await stat(realPath).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    })
    return { realPath, stats }
  }

  /** A path as it is written, made absolute; links in it are not resolved. */
  absolute(path: string): string {
    checkPath(path)
    return resolve(absolute(path, { ...this.#settings, pathStyle }))
  }

  shown(root: string, path: string): string {
    const end = join(root, path)
    const way = slashed(contains(this.#cwd, end) ? relative(this.#cwd, end) : end)
    return path.endsWith('/') && !way.endsWith('/') ? `${way || '.'}/` : way
  }

  async closedBelow(realPath: string, policy: ToolContext['policy']): Promise<ClosedPlaces> {
    return (await closedPlaces(policy)).below(realPath)
  }

  noteRead(realPath: string, stats: BigIntStats): void {
    this.#settings.fileTimes.note(realPath, stats)
  }

  /** Where ignore files begin to count: the repository that a folder is in, else the working folder, else the folder. */
  async #rootOf(folder: string): Promise<string> {
    const repository = await repositoryOf(folder)
    return repository ?? (contains(this.#cwd, folder) ? this.#cwd : folder)
  }
}

/** The nearest folder, from a folder upwards, that has `.git` in it. */
export async function repositoryOf(folder: string): Promise<string | undefined> {
  const top = parse(folder).root
  for (let at = folder; at !== top; at = dirname(at)) {
    const isRepository = await stat(join(at, '.git')).then(
      () => true,
      () => false,
    )
    if (isRepository) return at
  }
  return undefined
}

/** @throws Refusal for what is there, but no file that can be read and replaced */
export function checkFile(path: string, stats: Stats): void {
  if (stats.isDirectory()) throw Refusal.of(path, 'is a folder.')
  if (!stats.isFile()) throw Refusal.of(path, 'is no regular file.')
}

function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/')
}
