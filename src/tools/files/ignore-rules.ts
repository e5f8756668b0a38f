import { join } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { openInside } from './confined-folder.ts'
import { isFileSystemError, Refusal } from './refusal.ts'

/** A bigger ignore file is no ignore file. */
const maxIgnoreFileBytes = 1024 * 1024

/** The rules of one ignore file, for paths that begin with `base`. */
interface Layer {
  readonly base: string
  readonly rules: Ignore
}

/**
 * What the `.gitignore` files of a folder and of those above it, up to the confined folder, leave out. The nearest one
 * that has a rule for a path decides. One thing is not as in git: what a deeper file takes back in of a folder that a
 * higher one leaves out (`!keep/` against `build/*`) is entered, but still judged by the higher one.
 */
export class IgnoreRules {
  static readonly none = new IgnoreRules([])
  /** Nearest first. */
  readonly #layers: readonly Layer[]

  private constructor(layers: readonly Layer[]) {
    this.#layers = layers
  }

  /** The rules that hold for a folder from above it. One that is itself left out, but asked for by name, has none. */
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

  /** These rules and those of the ignore file in a folder, if it has one. */
  async enter(root: string, path: string): Promise<IgnoreRules> {
    const text = await ignoreFile(root, join(root, path, '.gitignore'))
    if (text === undefined) return this
    const rules = ignore({ ignorecase: false }).add(text)
    return new IgnoreRules([{ base: path === '' ? '' : `${path}/`, rules }, ...this.#layers])
  }

  /** Whether a path from the confined folder is left out; that of a folder ends in `/`. */
  leaveOut(path: string): boolean {
    for (const { base, rules } of this.#layers) {
      const { ignored, unignored } = rules.test(path.slice(base.length))
      if (ignored || unignored) return ignored
    }
    return false
  }
}

/** A link is not followed: it may lead out of the confined folder. */
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
