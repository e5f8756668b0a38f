import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const shortHashChars = 7

/** The branch that is checked out in the repository of a folder, or the beginning of the commit; `undefined`: there is none. */
export function gitBranch(folder: string): string | undefined {
  try {
    const git = gitFolder(folder)
    if (git === undefined) return undefined
    const head = readFileSync(join(git, 'HEAD'), 'utf8').trim()
    const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? []
    return branch ?? (/^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, shortHashChars) : undefined)
  } catch {
    return undefined
  }
}

/** Of a worktree and of a submodule, `.git` is a file that names it. */
function gitFolder(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, '.git')
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats?.isDirectory() === true) return path
    if (stats?.isFile() === true) {
      const [, named] = /^gitdir: (.+)$/m.exec(readFileSync(path, 'utf8')) ?? []
      return named === undefined ? undefined : resolve(at, named.trim())
    }
    if (dirname(at) === at) return undefined
  }
}
