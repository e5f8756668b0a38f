import envPaths from 'env-paths'

type Environment = Readonly<Record<string, string | undefined>>

/** The folder of a person's own configuration: the one that `ENTIA_CONFIG_DIR` names, or else where the system keeps such things. */
export function configFolder(environment: Environment): string {
  const named = environment['ENTIA_CONFIG_DIR'] ?? ''
  return named === '' ? envPaths('entia', { suffix: '' }).config : named
}
