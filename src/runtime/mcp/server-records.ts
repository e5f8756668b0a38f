import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makePrivateFolder, writePrivateFile } from '../config/folders.ts'
import type { Offer } from './offer.ts'
import type { McpTarget } from './mcp-connection.ts'

const version = 1

/** What is known of a server from its last connection. */
export interface ServerRecord {
  readonly offer: Offer
  /** What its tools are called here, by their names at the server. */
  readonly names: Readonly<Record<string, string>>
  /** Tools that have changed since a permission may have been given for them. */
  readonly changed: readonly string[]
  /** It could not be reached the last time, and never before: nobody waits for it again. */
  readonly isMissing?: true | undefined
}

interface Stored extends ServerRecord {
  readonly version: unknown
}

/** What servers offered when they were connected last: a file a server in the cache folder, so that none is started to learn it. */
export class ServerRecords {
  readonly #folder: string

  /** @param cache the cache folder, absolute */
  constructor(cache: string) {
    this.#folder = join(cache, 'mcp')
  }

  /** `undefined`: it was not connected yet, or is configured otherwise now. */
  async read(name: string, target: McpTarget): Promise<ServerRecord | undefined> {
    try {
      const record = JSON.parse(await readFile(this.#path(name, target), 'utf8')) as Stored
      // Only this program writes here; what another version wrote is asked again.
      return record.version === version ? record : undefined
    } catch {
      return undefined
    }
  }

  /** What cannot be kept is asked again. */
  async write(name: string, target: McpTarget, record: ServerRecord): Promise<void> {
    try {
      await makePrivateFolder(this.#folder)
      await writePrivateFile(this.#path(name, target), JSON.stringify({ version, ...record }))
    } catch {
      // Such as a full disk.
    }
  }

  /** Of the name and all that is configured, so that another program or another account is another server. */
  #path(name: string, target: McpTarget): string {
    const hash = createHash('sha256')
      .update(JSON.stringify([name, target]))
      .digest('hex')
      .slice(0, 32)
    return join(this.#folder, `${hash}.json`)
  }
}
