import { chmod, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../rules/config/config.ts'
import { leadsTo, placesOf } from '../../tools/files/leads-to.ts'
import { cleanName } from '../../tools/files/clean-text.ts'
import { checkOptions, filledText, refuseMisfit, type ShapesOf, table } from '../../base/option-shapes.ts'
import { type ConfigFile, readConfigFile, refuseProblems } from './config-file.ts'
import { type Folders, inHome } from './folders.ts'
import { agentConfigOf, layered, type RuntimeConfig } from './runtime-config.ts'
import { keptInSandbox, tightened } from './tightened.ts'

/** Options of `readRuntimeConfig`. */
export interface ReadConfigOptions {
  /** The working folder, absolute: the project's file is `.entia/config.json` in it. */
  readonly cwd: string
  /** Where the user's own `config.json` lies. */
  readonly folders: Pick<Folders, 'config'>
  /** What `~` stands for. @default the user's home folder */
  readonly home?: string | undefined
  /** Counts over the files, such as a command line. @default nothing */
  readonly over?: RuntimeConfig | undefined
}

/** A configuration, and where it is from. */
export interface ReadConfig {
  /** The files, one laid over the other. No defaults are filled in. */
  readonly config: RuntimeConfig
  /** The files that were read. */
  readonly sources: readonly string[]
  /** What the user should know, for stderr: what was ignored, and why. */
  readonly notices: readonly string[]
}

/** The two files, before they are laid over each other. */
export interface ConfigLayers {
  /** The user's own. */
  readonly own: RuntimeConfig
  /** The project's, without what it may not say. */
  readonly project: RuntimeConfig
  readonly isTrusted: boolean
  /** The user's own file names the folder in `trustedFolders`, whether or not it has a file. */
  readonly isTrustedFolder: boolean
  /** Keys of the project's file that do not count. */
  readonly ignored: readonly string[]
  readonly sources: readonly string[]
  readonly notices: readonly string[]
  /** The notice on keys of the project's file that do not count. */
  readonly noticeOn: (keys: readonly string[]) => readonly string[]
}

/**
 * Reads the user's configuration file and the project's, which counts over it. In a folder that the user's `trustedFolders` do
 * not name it may only tighten.
 *
 * @throws by its promise: `config-invalid` that names all problems of both files, `invalid-argument`
 */
export async function readRuntimeConfig(options: ReadConfigOptions): Promise<ReadConfig> {
  checkOptions('readRuntimeConfig', options, readShapes)
  refuseMisfit('readRuntimeConfig', 'cwd', options.cwd, filledText)
  refuseMisfit('readRuntimeConfig', 'folders', options.folders, readShapes.folders)
  const { config, notices, sources } = await readTrustedConfig(options)
  return { config, notices, sources }
}

/** A configuration, and whether the user's own file names the folder in `trustedFolders`. */
export interface TrustedConfig extends ReadConfig {
  readonly isTrustedFolder: boolean
}

/** The same for a chat session. @throws by its promise: as `readRuntimeConfig` */
export async function readTrustedConfig(options: ReadConfigOptions): Promise<TrustedConfig> {
  const { own, project, ignored, isTrustedFolder, sources, notices, noticeOn } = await readConfigLayers(options)
  const config = [project, options.over ?? {}].reduce(layered, own)
  readConfig(agentConfigOf(config))
  return { config, sources, notices: [...noticeOn(ignored), ...notices], isTrustedFolder }
}

const readShapes: ShapesOf<ReadConfigOptions> = {
  cwd: filledText,
  folders: {
    wanted: 'an object { config }, such as folders() gives',
    fits: (value) => table.fits(value) && filledText.fits((value as { readonly config?: unknown }).config),
  },
  home: filledText,
  over: table,
}

/** @throws `config-invalid` */
export async function readConfigLayers({ cwd, folders, home = homedir() }: ReadConfigOptions): Promise<ConfigLayers> {
  const paths = configPaths({ cwd, folders })
  const user = await readConfigFile(paths.own)
  const isTheSame = user !== undefined && (await leadsTo(paths.own)) === (await leadsTo(paths.project))
  const projectFile = isTheSame ? undefined : await readConfigFile(paths.project)
  const files = [user, projectFile].filter((file) => file !== undefined)
  refuseProblems(files)
  const own = user?.layer ?? {}
  const isTrustedFolder = await isTrusted(cwd, own.trustedFolders ?? [], home)
  const base = { own, isTrustedFolder, sources: files.map(({ path }) => path), notices: await keptSecret(user) }
  if (projectFile === undefined) return { ...base, project: {}, isTrusted: true, ignored: [], noticeOn: () => [] }
  const noticeOn = (keys: readonly string[]) =>
    ignoredNotice(projectFile, keys, { cwd, own: paths.own, isTrustedFolder })
  if (isTrustedFolder) {
    const { trustedFolders: _, ...project } = projectFile.layer
    const { layer, ignored } = keptInSandbox({ project, own })
    return { ...base, project: layer, isTrusted: true, ignored, noticeOn }
  }
  const { layer, ignored } = await tightened({ project: projectFile.layer, own, cwd, home })
  return { ...base, project: layer, isTrusted: false, ignored, noticeOn }
}

/** Where configuration files lie, whether or not they are there. */
export function configPaths({ cwd, folders }: Pick<ReadConfigOptions, 'cwd' | 'folders'>) {
  return { own: join(folders.config, 'config.json'), project: join(cwd, '.entia', 'config.json') }
}

/**
 * Subfolders of a trusted folder are not trusted: anybody may have put them there. A name that leads to two places names
 * neither.
 */
export async function isTrusted(folder: string, trusted: readonly string[], home: string): Promise<boolean> {
  const [real, other] = await placesOf(folder)
  const named = await Promise.all(trusted.map((name) => placesOf(inHome(name, home))))
  return other === undefined && named.some((places) => places.length === 1 && places[0] === real)
}

function ignoredNotice(
  { path, find }: ConfigFile,
  keys: readonly string[],
  { cwd, isTrustedFolder, own }: { readonly cwd: string; readonly own: string; readonly isTrustedFolder: boolean },
): readonly string[] {
  if (keys.length === 0) return []
  const lines = keys.map((key) => {
    const { line = 1, column = 1, spelt = key } = find(key) ?? {}
    const part = key === 'context.taskClass' ? ' (its approval of every tool call)' : ''
    return cleanName(`  ${path}:${line}:${column}: ${spelt}${part}`)
  })
  if (isTrustedFolder) {
    const what = `A project's configuration cannot let more out of the sandbox than ${own} does. Ignored:`
    return [[what, ...lines].join('\n')]
  }
  return [
    [
      'This folder is not trusted, so its configuration may only tighten your own. Ignored:',
      ...lines,
      `To trust it, put ${JSON.stringify(cwd)} into trustedFolders in ${own}.`,
    ].join('\n'),
  ]
}

/** A file of the user's own with secrets in it, which others may read, is closed to them. */
async function keptSecret(file: ConfigFile | undefined): Promise<readonly string[]> {
  const servers = Object.values(file?.layer.mcp?.servers ?? {})
  const hasSecrets = servers.some(({ env = {}, headers = {} }) => Object.keys({ ...env, ...headers }).length > 0)
  if (file === undefined || !hasSecrets || process.platform === 'win32') return []
  const { mode } = await stat(file.path)
  if ((mode & 0o077) === 0) return []
  const may = `${file.path} may hold secrets, and others could read it.`
  try {
    await chmod(file.path, 0o600)
    return [`${may} Its mode is 0600 now.`]
  } catch {
    return [`${may} Set its mode to 0600.`]
  }
}
