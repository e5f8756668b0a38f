import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { type Folders, folders } from '../../runtime/config/folders.ts'
import { readRuntimeConfig } from '../../runtime/config/read-runtime-config.ts'
import type { RuntimeConfig } from '../../runtime/config/runtime-config.ts'
import { noticesTo } from '../../runtime/notices.ts'
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
  onNotice,
}: McpServerOptions): Promise<ServerPlace> {
  const cwd = resolve(given)
  // Empty variables count as unset.
  const home = env['HOME'] || env['USERPROFILE'] || userInfo().homedir
  const found = folders(env, cwd)
  const { config, notices } = await readRuntimeConfig({ cwd, folders: found, home })
  const tell = noticesTo(onNotice)
  for (const notice of notices) tell(notice)
  return { cwd, home, env, folders: found, config }
}
