import { taskBundles } from '../../rules/config/task-classes.ts'
import { type Config, type ConfigInput, mergeConfig, readConfig } from '../../rules/config/config.ts'
import { folders } from '../../runtime/config/folders.ts'
import { readConfigLayers } from '../../runtime/config/read-runtime-config.ts'
import { agentConfigOf, layered, type RuntimeConfig } from '../../runtime/config/runtime-config.ts'
import { builtInProviderTable } from '../../runtime/models/known-providers.ts'

/** The files and the command line merged, as `entia ask` uses them. */
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

/**
 * Reads the user's configuration file and the project's; the command line overrides both. The project's file may only
 * tighten the user's, unless the user trusts its folder.
 *
 * @throws `config-invalid`
 */
export async function readSettings({ flags, environment, cwd }: SettingsPlace): Promise<Settings> {
  const layers = await readConfigLayers({ cwd, folders: folders(environment, cwd) })
  const { own, project, isTrusted, ignored, notices, noticeOn } = layers
  const settings = settingsOf([own, project, flags], isTrusted ? [own, project, flags] : [own, flags])
  return { ...settings, notices: [...noticeOn([...ignored, ...loosening(project, settings)]), ...notices] }
}

/** Later layers override. A task class approves tool calls only if a trusted layer names it. */
function settingsOf(layers: readonly RuntimeConfig[], trusted: readonly RuntimeConfig[]): Omit<Settings, 'notices'> {
  const whole = layers.reduce(layered, {})
  const config = readConfig({ ...agentConfigOf(whole), model: modelOf(whole) })
  const { taskClass } = config.context
  const isChosen =
    taskClass !== undefined && mergeConfig(...trusted.map(agentConfigOf)).context?.taskClass === taskClass
  const byClass = isChosen && taskBundles[taskClass].askMode === 'allow' ? 'allow' : 'ask'
  return { config, approvalMode: config.approvalMode ?? byClass }
}

/** The configured model with its provider. A provider that `entia ask` does not know is left out, with its model. */
function modelOf({ provider, model }: RuntimeConfig): string | undefined {
  if (provider === undefined || model?.startsWith(`${provider}/`) === true) return model
  if (!Object.hasOwn(builtInProviderTable, provider)) return undefined
  return model === undefined ? provider : `${provider}/${model}`
}

/** Keys of a project's configuration whose approval of tool calls does not count. */
function loosening({ context }: RuntimeConfig, { config, approvalMode }: Omit<Settings, 'notices'>): readonly string[] {
  const { taskClass } = context ?? {}
  const isMuted = taskClass !== undefined && taskBundles[taskClass].askMode === 'allow' && approvalMode !== 'allow'
  return isMuted && config.context.taskClass === taskClass && config.approvalMode === undefined
    ? ['context.taskClass']
    : []
}
