import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, normalize } from 'node:path'
import { isPattern } from '../../rules/policy/glob.ts'
import { bodyOf, pathArguments, policyDefaults } from '../../rules/policy/call.ts'
import type { CallFacts, PolicyCall } from '../../rules/policy/call.ts'
import type { PolicyConfig } from '../../protocol/policy.ts'
import { credentialFolders } from '../../rules/policy/credential-paths.ts'
import { absolute } from '../../rules/policy/paths.ts'
import { childEnvironment } from '../tools/child-environment.ts'
import { readShellBody } from './shell-parser.ts'

/** Longest path that is looked for on the disk; no system opens a longer one. */
const maxPathChars = 4_096
/** Most paths of one call that are looked for on the disk; those of a shell body come last. */
const maxPathsLooked = 1_000

/**
 * Gathers what a policy has to know from the disk: where paths lead, what a shell body says, and whether a repository has
 * git run programs. Runs nothing but `git config`.
 */
export async function inspectCall(
  call: PolicyCall,
  config: PolicyConfig = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<CallFacts> {
  const body = bodyOf(call)
  const shell = body?.language === 'bash' ? await readShellBody(body.text, call) : undefined
  const lists = [
    ...(config.allowedPaths ?? []),
    ...(config.deniedPaths ?? []),
    ...(config.personalPaths ?? policyDefaults.personalPaths),
    ...(config.codePaths ?? policyDefaults.codePaths),
    ...pathArguments(call),
  ]
  const words = (shell?.words ?? []).flatMap((word) => word.paths)
  const paths = new Set([
    call.cwd,
    ...credentialFolders(call.home, call.configFolder),
    ...lists.map((path) => absolute(path, call)),
    ...words,
  ])
  const missing = new Set<string>()
  const looked: (readonly [string, readonly string[]])[] = []
  // One after the other: what is not there is not looked for again, and most paths of a body share their folders.
  for (const path of [...paths].slice(0, maxPathsLooked)) looked.push([path, await leadsTo(path, missing)])
  const isConfined = config.allowedPaths !== undefined || call.channel === 'mcp'
  const absent = isConfined && shell !== undefined ? await absentTops(words) : []
  return {
    real: Object.fromEntries(looked.filter(([, found]) => found.length > 0)),
    ...(shell !== undefined && { shell }),
    ...(absent.length > 0 && { absent }),
    ...(paths.size > maxPathsLooked && { isTooMuch: true as const }),
    ...(call.declared?.category === 'git' && (await runsPrograms(call, signal)) && { runsPrograms: true as const }),
  }
}

/** First names of paths that the disk does not have. */
async function absentTops(paths: readonly string[]): Promise<readonly string[]> {
  const tops = new Set(paths.slice(0, maxPathsLooked).map((path) => normalize(path).split('/')[1] ?? ''))
  const found = await Promise.all(
    [...tops].map(async (top) => {
      const isThere = isPattern(top) || (await lstat(`/${top}`).catch(() => undefined)) !== undefined
      return isThere ? [] : [top]
    }),
  )
  return found.flat()
}

function environment(): NodeJS.ProcessEnv {
  return childEnvironment(process.env, [])
}

/** Does git run programs of a repository's own configuration, in the working folder or where a path leads? */
async function runsPrograms(call: PolicyCall, signal: AbortSignal): Promise<boolean> {
  const { runsFilters } = await import('../tools/git-command.ts')
  const folders = [call.cwd, ...pathArguments(call).map((path) => absolute(path, call))]
  for (const folder of folders) {
    const cwd = await nearestFolder(folder)
    // Without git, or where it cannot read its configuration, the tools of git run nothing either.
    if (await runsFilters({ cwd, environment }, { signal }).catch(() => false)) return true
  }
  return false
}

async function nearestFolder(path: string): Promise<string> {
  let folder = normalize(path)
  while (!(await isFolder(folder)) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}

/**
 * Where an absolute path leads on the disk, when that differs from how it reads: links of the longest part that exists are
 * followed. With `..` behind a link there are two answers, as the system and as programs take it; both are given.
 */
async function leadsTo(path: string, missing: Set<string>): Promise<readonly string[]> {
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
