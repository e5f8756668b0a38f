import { realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import envPaths from 'env-paths'
import { taskBundles } from '../../rules/config/task-classes.ts'
import { type Config, type ConfigInput, mergeConfig, readConfig } from '../../rules/config/config.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import { tightened } from './tightened.ts'

/** The files and the command line merged. */
export interface Settings {
  readonly config: Config
  /** Decides on tool calls that need approval: as configured, or by the task class. */
  readonly approvalMode: 'allow' | 'ask' | 'deny'
  readonly notices: readonly string[]
}

export interface SettingsPlace {
  readonly flags: ConfigInput
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

const projectFile = ['.entia', 'config.json'] as const

/**
 * Reads the user's configuration file and the project's; the command line overrides both. The project's file may only
 * tighten the user's, unless the user trusts its folder.
 *
 * @throws `config-invalid`
 */
export async function readSettings({ flags, environment, cwd }: SettingsPlace): Promise<Settings> {
  const userPath = resolve(cwd, configFolder(environment), 'config.json')
  const projectPath = join(cwd, ...projectFile)
  const user = await readConfigFile(userPath)
  const isTheSame = user !== undefined && (await realPath(userPath)) === (await realPath(projectPath))
  const project = isTheSame ? undefined : await readConfigFile(projectPath)
  const own = user?.layer ?? {}
  if (project === undefined) return settingsOf([own, flags], [own, flags])
  if (await isTrusted(cwd, own.trustedFolders ?? [])) {
    const { trustedFolders: _, ...rest } = project.layer
    return settingsOf([own, rest, flags], [own, rest, flags])
  }
  const { layer, ignored } = tightened(project.layer, own)
  const settings = settingsOf([own, layer, flags], [own, flags])
  const notices = ignoredNotice(project, [...ignored, ...loosening(layer, settings)], { cwd, userPath })
  return { ...settings, notices }
}

/** Later layers override. A task class approves tool calls only if a trusted layer names it. */
function settingsOf(layers: readonly ConfigInput[], trusted: readonly ConfigInput[]): Settings {
  const config = readConfig(mergeConfig(...layers))
  const { taskClass } = config.context
  const isChosen = taskClass !== undefined && mergeConfig(...trusted).context?.taskClass === taskClass
  const byClass = isChosen && taskBundles[taskClass].askMode === 'allow' ? 'allow' : 'ask'
  return { config, approvalMode: config.approvalMode ?? byClass, notices: [] }
}

/** Names the task class if it would approve tool calls but comes from an untrusted file. */
function loosening({ context }: ConfigInput, { config, approvalMode }: Settings): readonly string[] {
  const { taskClass } = context ?? {}
  const isMuted = taskClass !== undefined && taskBundles[taskClass].askMode === 'allow' && approvalMode !== 'allow'
  return isMuted && config.context.taskClass === taskClass && config.approvalMode === undefined
    ? ['context.taskClass']
    : []
}

function ignoredNotice(
  { path, find }: ConfigFile,
  keys: readonly string[],
  { cwd, userPath }: { readonly cwd: string; readonly userPath: string },
): readonly string[] {
  if (keys.length === 0) return []
  const lines = keys.map((key) => {
    const { line = 1, column = 1, spelt = key } = find(key) ?? {}
    const part = key === 'context.taskClass' ? ' (its approval of every tool call)' : ''
    return `  ${path}:${line}:${column}: ${spelt}${part}`
  })
  return [
    [
      'This folder is not trusted, so its configuration may only tighten your own. Ignored:',
      ...lines,
      `To trust it, put ${JSON.stringify(cwd)} into trustedFolders in ${userPath}.`,
    ].join('\n'),
  ]
}

/** Subfolders of a trusted folder are not trusted: anybody may have put them there. */
async function isTrusted(folder: string, trusted: readonly string[]): Promise<boolean> {
  const real = await realPath(folder)
  const homes = trusted.map((name) => (/^~(?:[\\/]|$)/.test(name) ? join(homedir(), name.slice(1)) : name))
  return (await Promise.all(homes.map(realPath))).includes(real)
}

/** Resolves links and case; a missing path stays as written. */
async function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path))
}

/** `ENTIA_CONFIG_DIR`, or the system's folder for configuration. */
export function configFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const named = environment['ENTIA_CONFIG_DIR'] ?? ''
  return named === '' ? envPaths('entia', { suffix: '' }).config : named
}
