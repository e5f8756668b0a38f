import { readlink, realpath } from 'node:fs/promises'
import { normalize } from 'node:path'
import { isPattern } from '../../rules/policy/glob.ts'

/** Longest path that is looked for on the disk; no system opens a longer one. */
const maxPathChars = 4_096

/**
 * Where an absolute path leads on the disk, when that differs from how it reads: links of the longest part that exists are
 * followed. With `..` behind a link there are two answers, as the system and as programs take it; both are given.
 */
export async function leadsTo(path: string, missing: Set<string>): Promise<readonly string[]> {
  if (path.includes('\0') || path.length > maxPathChars) return []
  const read = normalize(path)
  const found = new Set([
    await longestReal(read, missing),
    path.includes('..') ? await longestReal(path, missing) : undefined,
  ])
  found.delete(undefined)
  found.delete(read)
  found.delete(read.replace(/\/$/, ''))
  return [...found] as string[]
}

/** Most links that lead to a name that does not exist yet, as the system follows them. */
const maxLinks = 40

/** Of a pattern, only the folders before it are followed. */
async function longestReal(path: string, missing: Set<string>, links = 0): Promise<string | undefined> {
  const names = path.split('/')
  const firstPattern = names.findIndex(isPattern)
  for (let length = firstPattern === -1 ? names.length : firstPattern; length > 1; length--) {
    const start = names.slice(0, length).join('/') || '/'
    if (missing.has(start)) continue
    const rest = names.slice(length)
    const real = await realpath(start).catch(() => undefined)
    if (real !== undefined) return [real === '/' ? '' : real, ...rest].join('/') || '/'
    // What is written through a link whose target does not exist yet is made where the link points.
    const target = await readlink(start).catch(() => undefined)
    if (target !== undefined && links < maxLinks) {
      const folder = target.startsWith('/') ? '' : `${names.slice(0, length - 1).join('/')}/`
      return longestReal([`${folder}${target}`, ...rest].join('/'), missing, links + 1)
    }
    missing.add(start)
  }
  return undefined
}
