import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { type Folders, folders } from '../../runtime/config/folders.ts'
import { readRuntimeConfig } from '../../runtime/config/read-runtime-config.ts'
import type { RuntimeConfig } from '../../runtime/config/runtime-config.ts'
import type { McpServerOptions } from './server-options.ts'

/** What a server reads of files and environment. */
export interface ServerPlace {
  /** Absolute. */
  readonly cwd: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
  readonly folders: Folders
  readonly config: RuntimeConfig
}

/** @throws `config-invalid` */
export async function placeOf({
  cwd: given = '.',
  env = process.env,
  onNotice = toStderr,
}: McpServerOptions): Promise<ServerPlace> {
  const cwd = resolve(given)
  // Empty variables count as unset.
  const home = env['HOME'] || env['USERPROFILE'] || userInfo().homedir
  const found = folders(env, cwd)
  const { config, notices } = await readRuntimeConfig({ cwd, folders: found, home })
  for (const notice of notices) onNotice(notice)
  return { cwd, home, env, folders: found, config }
}

export function toStderr(notice: string): void {
  process.stderr.write(`${notice}\n`)
}
