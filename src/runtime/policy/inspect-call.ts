import { lstat } from 'node:fs/promises'
import { normalize } from 'node:path'
import { isPattern } from '../../rules/policy/glob.ts'
import { bodyOf, checkCall, pathArguments, policyDefaults } from '../../rules/policy/call.ts'
import type { CallFacts, PolicyCall } from '../../rules/policy/call.ts'
import type { PolicyConfig } from '../../protocol/policy.ts'
import { isDevice } from '../../rules/policy/call-places.ts'
import { credentialFolders } from '../../rules/policy/credential-paths.ts'
import { namedPaths, programsOf } from '../../rules/policy/named-paths.ts'
import { absolute } from '../../rules/policy/paths.ts'
import { childEnvironment } from '../tools/child-environment.ts'
import { RealPaths } from './real-paths.ts'
import { readShellBody } from './shell-parser.ts'

/** Most paths of one call that are looked for on the disk; those of a shell body come last. */
const maxPathsLooked = 1_000

/**
 * Gathers what a policy has to know from the disk: where paths lead, what a shell body says, and whether a repository has
 * git run programs. Runs nothing but `git config`.
 *
 * @throws by its promise: `invalid-argument`
 */
export async function inspectCall(
  call: PolicyCall,
  config: PolicyConfig = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<CallFacts> {
  checkCall('inspectCall', call, config)
  const body = bodyOf(call)
  const shell = body?.language === 'bash' ? await readShellBody(body.text, call) : undefined
  const lists = [
    ...(config.allowedPaths ?? []),
    ...(config.deniedPaths ?? []),
    ...(config.personalPaths ?? policyDefaults.personalPaths),
    ...(config.codePaths ?? policyDefaults.codePaths),
  ]
  const listed = [call.cwd, ...credentialFolders(call.home, call), ...lists.map((path) => absolute(path, call))]
  // Devices such as `/dev/stderr` are those of the program that runs, not Entia's own.
  const words = (shell?.words ?? []).flatMap((word) => word.paths).filter((path) => !isDevice(path))
  const given = pathArguments(call).map((path) => absolute(path, call))
  const named = programsOf(call, shell).flatMap((program) => namedPaths(program, call))
  const paths = new Set([...listed, ...given, ...words, ...named])
  const disk = new RealPaths({ listed, folder: call.cwd })
  const looked = await Promise.all(
    [...paths].slice(0, maxPathsLooked).map(async (path) => [path, await disk.leadsTo(path)] as const),
  )
  const absent = await absentTops(words.filter((path) => !path.startsWith(`${call.cwd}/`)))
  return {
    real: Object.fromEntries(looked.filter(([, found]) => found.length > 0)),
    ...(shell !== undefined && { shell }),
    ...(absent.length > 0 && { absent }),
    ...(paths.size > maxPathsLooked && { isTooMuch: true as const }),
    ...(call.declared?.category === 'git' && (await ofRepositories(call, signal))),
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

/** What git does by a repository's own configuration and links, in the working folder or where a path leads. */
async function ofRepositories(call: PolicyCall, signal: AbortSignal) {
  const { nearestFolder, repositoryFacts } = await import('../tools/git-repository.ts')
  const paths = [call.cwd, ...pathArguments(call).map((path) => normalize(absolute(path, call)))]
  const found = await Promise.all(
    paths.map(async (path) => repositoryFacts(await nearestFolder(path), { environment }, { signal })),
  )
  const reads = [...new Set(found.flatMap((each) => each.reads))]
  return {
    ...(found.some((each) => each.runsPrograms) && { runsPrograms: true as const }),
    ...(reads.length > 0 && { reads }),
  }
}
