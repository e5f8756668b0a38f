import { hasCode, unlessMissing } from '../../base/unless-missing.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { chmod, mkdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import envPaths from 'env-paths'
import { EntiaError } from '../../base/entia-error.ts'
import { environment, filledText, refuseMisfit } from '../../base/option-shapes.ts'
import type { Environment } from '../models/known-providers.ts'

/** Where the runtime keeps its files, each absolute. */
export interface Folders {
  /** What the user writes: `config.json`, `AGENTS.md`. */
  readonly config: string
  /** What must not be lost, such as chat sessions. */
  readonly data: string
  /** What can be made again. */
  readonly cache: string
  /** What belongs to this machine, such as logs. */
  readonly state: string
}

/**
 * The folders of the system's convention, or those that `ENTIA_CONFIG_DIR`, `ENTIA_DATA_DIR`, `ENTIA_CACHE_DIR` and
 * `ENTIA_STATE_DIR` name; `state` is by default a folder in `data`. Makes none of them.
 *
 * @param env the environment; empty variables count as unset. @default that of the process
 * @param cwd where relative paths begin. @default that of the process
 * @throws `invalid-argument`
 */
export function folders(env: Environment = process.env, cwd: string = process.cwd()): Folders {
  refuseMisfit('folders', 'env', env, environment)
  refuseMisfit('folders', 'cwd', cwd, filledText)
  const usual = envPaths('entia', { suffix: '' })
  const named = (variable: string, otherwise: string): string => resolve(cwd, env[variable] || otherwise)
  const data = named('ENTIA_DATA_DIR', usual.data)
  return {
    config: named('ENTIA_CONFIG_DIR', usual.config),
    data,
    cache: named('ENTIA_CACHE_DIR', usual.cache),
    state: named('ENTIA_STATE_DIR', join(data, 'state')),
  }
}

/**
 * What in these folders, besides the one of configuration, is not for an agent's eyes: tokens, chats and what was typed. Skills in
 * the data folder are.
 */
export function ownPaths({ data, state }: Folders): readonly string[] {
  return [state, ...['sessions', 'matrix', 'archive', 'history.jsonl'].map((name) => join(data, name))]
}

/** `~` and paths that begin with it, in the user's home folder; `..` and links are left as they are. */
export function inHome(path: string, home: string = homedir()): string {
  const isOfHome = path === '~' || path.startsWith('~/') || path.startsWith(`~${sep}`)
  return isOfHome ? `${home}${path.slice(1)}` : path
}

/**
 * Makes a folder, and those above it that are missing, for this user alone (0700), whatever the umask. One that is there stays
 * as it is.
 *
 * @throws `store-failed` if it cannot be made
 */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    await makeFolder(path)
  } catch (error) {
    throw notWritable(`The folder ${path} cannot be made`, path, error)
  }
}

async function makeFolder(path: string): Promise<void> {
  const found = await unlessMissing(stat(path))
  if (found?.isDirectory() === true) return
  if (found !== undefined) throw new Error('A file of that name is there.')
  if (dirname(path) !== path) await makeFolder(dirname(path))
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return
    throw error
  }
  await chmod(path, 0o700)
}

/**
 * Writes a file for this user alone (0600), whatever the umask: readers find the old text or the new one, whole. Makes its
 * folder.
 *
 * @throws `store-failed` if it cannot be written
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await makePrivateFolder(dirname(path))
  const { default: writeFileAtomic } = await import('write-file-atomic')
  try {
    await writeFileAtomic(path, text, { encoding: 'utf8', mode: 0o600 })
  } catch (error) {
    throw notWritable(`The file ${path} cannot be written`, path, error)
  }
}

function notWritable(what: string, path: string, cause: unknown): EntiaError {
  const why = thrownMessage(cause)
  const advice = 'Correct that, or name other folders with ENTIA_CONFIG_DIR, ENTIA_DATA_DIR, ENTIA_CACHE_DIR.'
  return new EntiaError('store-failed', `${what}: ${why} ${advice}`, { path }, { cause })
}
