import { type Clock, realClock } from '../../engine/loop/clock.ts'
import { type Folders, folders } from '../../runtime/config/folders.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { type Account, Homeserver, logIn } from './homeserver.ts'
import { type MatrixConfig, readConfig, writeConfig } from './matrix-config.ts'

export interface ConnectOptions {
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly clock?: Clock | undefined
  readonly signal?: AbortSignal | undefined
  /** Tries of a request. @default a few */
  readonly maxTries?: number | undefined
  readonly onNotice: (notice: string) => unknown
}

export interface Connection {
  readonly config: MatrixConfig
  readonly home: Homeserver
  readonly clock: Clock
  readonly folders: Folders
}

/**
 * The account of `matrix.json`. A token that is refused is replaced by logging in again, where the password is stored.
 *
 * @throws by its promise: `matrix-not-configured`, `config-invalid`, `missing-peer`
 */
export async function connect({
  clock = realClock,
  env,
  maxTries,
  onNotice,
  signal,
}: ConnectOptions): Promise<Connection> {
  const found = folders(env)
  const config = await readConfig(found, onNotice)
  const renew = async (refused: Account): Promise<Account> => {
    const now = await readConfig(found, onNotice)
    if (now.userId !== refused.userId || now.server !== refused.server) throw otherAccount(now.userId)
    // Configured anew meanwhile.
    if (now.accessToken !== refused.accessToken) return now
    const { deviceId, password, server, userId } = now
    if (password === undefined) throw noPassword()
    onNotice('The homeserver refuses the token; logging in again.')
    // The same device: the homeserver then knows what it has sent before.
    const account = await logIn({ server, user: userId, password, deviceId }, { clock, maxTries, signal })
    await writeConfig({ ...now, ...account }, found)
    return account
  }
  const home = await Homeserver.of(config, { clock, maxTries, onNotice, renew, signal })
  return { config, home, clock, folders: found }
}

function otherAccount(userId: string): EntiaError {
  const what = `The homeserver refuses the token, and matrix.json names another account by now: ${userId}.`
  return new EntiaError('matrix-failed', `${what} Start again.`, { errcode: 'M_UNKNOWN_TOKEN' })
}

function noPassword(): EntiaError {
  const what = 'The homeserver refuses the token of matrix.json, and no password is stored to log in again.'
  return new EntiaError('matrix-failed', `${what} Run: entia matrix configure`, { errcode: 'M_UNKNOWN_TOKEN' })
}
