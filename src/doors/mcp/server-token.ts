import { randomBytes } from 'node:crypto'
import { chmod, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Folders, writePrivateFile } from '../../runtime/config/folders.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { isToken } from './server-options.ts'

const variable = 'ENTIA_MCP_TOKEN'

/**
 * The bearer token of a server on HTTP: of the environment, else the one in the state folder, which is made at the first
 * start.
 *
 * @param notice gets where it was found or kept, and once the token that was made
 * @throws `invalid-argument` for a token in the environment that no header can carry; `store-failed`
 */
export async function serverToken(
  env: NodeJS.ProcessEnv,
  { state }: Folders,
  notice: (text: string) => unknown,
): Promise<string> {
  const given = env[variable]
  if (given !== undefined && given !== '') {
    if (isToken(given)) return given
    const what = `${variable} must be at least 16 printable ASCII characters without blanks, got ${given.length} characters`
    throw new EntiaError('invalid-argument', `${what}. Set another one, or unset it: then one is made.`)
  }
  const path = join(state, 'mcp-token')
  const kept = (await readFile(path, 'utf8').catch(() => '')).trim()
  if (isToken(kept)) {
    if ((((await stat(path)).mode ?? 0) & 0o077) !== 0) {
      await chmod(path, 0o600)
      notice(`${path} could be read by others; it is for this user alone now.`)
    }
    notice(`Clients need the bearer token in ${path}.`)
    return kept
  }
  const made = randomBytes(32).toString('base64url')
  await writePrivateFile(path, `${made}\n`)
  notice(`Clients need this bearer token, kept in ${path}: ${made}`)
  return made
}
