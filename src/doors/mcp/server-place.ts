import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { type Folders, folders } from '../../runtime/config/folders.ts'
import { readTrustedConfig } from '../../runtime/config/read-runtime-config.ts'
import type { RuntimeConfig } from '../../runtime/config/runtime-config.ts'
import { noticesTo } from '../../runtime/notices.ts'
import type { PolicyEffectsOptions } from '../../runtime/policy/policy-effects.ts'
import { openSandbox, placeInSandbox } from '../../runtime/sandbox/open-sandbox.ts'
import type { SessionSandbox } from '../../runtime/sandbox/session-sandbox.ts'
import type { McpServerOptions } from './server-options.ts'

/** What a server reads of files and environment. */
export interface ServerPlace {
  /** Absolute. */
  readonly cwd: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
  readonly folders: Folders
  readonly config: RuntimeConfig
  /** What programs of its tools run in, if there is to be one. */
  readonly sandbox: SessionSandbox | undefined
  /** Says where programs of calls run, for the policy. */
  readonly sandboxPlace: PolicyEffectsOptions['sandbox']
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
  const { config, isTrustedFolder, notices } = await readTrustedConfig({ cwd, folders: found, home })
  const tell = noticesTo(onNotice)
  for (const notice of notices) tell(notice)
  const sandbox = await openSandbox(config, { cwd, folders: found, home })
  const sandboxPlace = placeInSandbox(sandbox, config, isTrustedFolder)
  return { cwd, home, env, folders: found, config, sandbox, sandboxPlace }
}
