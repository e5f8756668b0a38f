import type { Stats } from 'node:fs'
import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { byCodePoint } from '../../base/by-code-point.ts'
import { contains } from '../../tools/files/leads-to.ts'

/** Something in a skill's folder. */
export interface TreeEntry {
  /** From the skill's folder, with `/`. */
  readonly path: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly stats: Stats
  /** Of a link: where it leads, as it is written. */
  readonly target?: string | undefined
  /** Of a link: it leads to something in the folder, and not into `.git`. */
  readonly leadsInside?: boolean | undefined
}

/** Folders within each other. */
const maxDepth = 32

/**
 * What is in a folder, without `.git`, sorted by path: folders before what is in them. No link is followed.
 *
 * @param maxEntries where it ends
 */
export async function* treeOf(folder: string, maxEntries: number): AsyncGenerator<TreeEntry> {
  const root = await realpath(folder)
  const open = [{ path: '', depth: 0 }]
  let count = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const names = (await readdir(join(root, next.path))).filter((name) => name !== '.git').toSorted(byCodePoint)
    const inner: { path: string; depth: number }[] = []
    for (const name of names) {
      if (count++ === maxEntries) return
      const path = next.path === '' ? name : `${next.path}/${name}`
      const entry = await entryOf(root, path)
      yield entry
      if (entry.kind === 'folder' && next.depth < maxDepth) inner.push({ path, depth: next.depth + 1 })
    }
    open.push(...inner.toReversed())
  }
}

async function entryOf(root: string, path: string): Promise<TreeEntry> {
  const whole = join(root, path)
  const stats = await lstat(whole)
  if (stats.isSymbolicLink()) {
    const target = await readlink(whole)
    return { path, kind: 'link', stats, target, leadsInside: await leadsInside(root, whole, target) }
  }
  return { path, kind: stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : 'other', stats }
}

/** Neither as it is written nor where it ends may it leave the folder: a copy of it would lead elsewhere. */
async function leadsInside(root: string, link: string, target: string): Promise<boolean> {
  if (isAbsolute(target) || !contains(root, join(dirname(link), target))) return false
  const end = await realpath(link).catch(() => undefined)
  return (
    end !== undefined && contains(root, end) && !contains(join(root, '.git'), end) && !end.includes(`${sep}.git${sep}`)
  )
}
