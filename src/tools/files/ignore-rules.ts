import { join } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { openInside } from './confined-folder.ts'
import { isFileSystemError, Refusal } from './refusal.ts'

/** Larger ignore files are skipped. */
const maxIgnoreFileBytes = 1024 * 1024

/** One ignore file, for paths that begin with `base`. */
interface Layer {
  readonly base: string
  readonly rules: Ignore
}

/**
 * The `.gitignore` files from the confined folder down to a folder; the nearest with a rule decides. Unlike in git, what a deeper
 * file re-includes of a folder ignored above (`!keep/` against `build/*`) is entered, but still judged by the higher one.
 */
export class IgnoreRules {
  static readonly none = new IgnoreRules([])
  readonly #layers: readonly Layer[]

  private constructor(layers: readonly Layer[]) {
    this.#layers = layers
  }

  /** The rules above a folder. An ignored folder that is asked for by name has none. */
  static async above(root: string, path: string): Promise<IgnoreRules> {
    let rules = IgnoreRules.none
    let parent = ''
    for (const name of path.split('/').filter((part) => part !== '')) {
      rules = await rules.enter(root, parent)
      parent = parent === '' ? name : `${parent}/${name}`
      if (rules.leaveOut(`${parent}/`)) rules = IgnoreRules.none
    }
    return rules
  }

  /** Adds the rules of a folder's own ignore file. */
  async enter(root: string, path: string): Promise<IgnoreRules> {
    const text = await ignoreFile(root, join(root, path, '.gitignore'))
    if (text === undefined) return this
    const rules = ignore({ ignorecase: false }).add(text)
    return new IgnoreRules([{ base: path === '' ? '' : `${path}/`, rules }, ...this.#layers])
  }

  /** @param path from the confined folder; that of a folder ends in `/` */
  leaveOut(path: string): boolean {
    for (const { base, rules } of this.#layers) {
      const { ignored, unignored } = rules.test(path.slice(base.length))
      if (ignored || unignored) return ignored
    }
    return false
  }
}

/** Links are not followed: they may leave the confined folder. */
async function ignoreFile(root: string, path: string): Promise<string | undefined> {
  try {
    const { handle } = await openInside(root, path)
    try {
      const stats = await handle.stat()
      return stats.isFile() && stats.size <= maxIgnoreFileBytes ? await handle.readFile('utf8') : undefined
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isFileSystemError(error) || error instanceof Refusal) return undefined
    throw error
  }
}
