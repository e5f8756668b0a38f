import { unlessMissing } from '../../base/unless-missing.ts'
import { open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { cutText } from '../../base/cut-text.ts'
import { sqliteStore } from '../../stores/sqlite.ts'
import type { Store } from '../../stores/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { lazily } from '../../base/lazily.ts'

/** A chat session on disk. */
export interface StoredSession {
  readonly key: string
  /** Unix time in milliseconds. */
  readonly createdAt: number
  /** Unix time in milliseconds. */
  readonly lastUsedAt: number
  /** `undefined`, like what follows, where the transcript does not say it. */
  readonly cwd: string | undefined
  readonly channel: string | undefined
  /** The first one: `provider/model`. */
  readonly model: string | undefined
  /** The beginning of what its user said first. */
  readonly firstMessage: string | undefined
}

/** Bytes of a transcript that are read to describe it. */
const headBytes = 65_536
/** Transcripts that are read at the same time. */
const readAtOnce = 32
/** Characters of a first message that a list shows. */
const firstMessageChars = 200

/** The folder of chat sessions: each has one of its own, with its world and its transcript. */
export class SessionFolder {
  readonly path: string

  /** @param path absolute; made with the first chat session */
  constructor(path: string) {
    this.path = path
  }

  /** Opens nothing yet. */
  store(key: string): Store {
    return sqliteStore({ folder: join(this.path, key) })
  }

  transcript(key: string): string {
    return join(this.path, key, 'transcript.jsonl')
  }

  /** What files had in them before the tools of a chat session wrote them. */
  backups(key: string): string {
    return join(this.path, key, 'rewind')
  }

  /** The last used first. */
  async list(): Promise<readonly StoredSession[]> {
    const keys = await this.#keys()
    const found: StoredSession[] = []
    for (let from = 0; from < keys.length; from += readAtOnce) {
      const some = await Promise.all(keys.slice(from, from + readAtOnce).map((key) => this.describe(key)))
      found.push(...some.filter((session) => session !== undefined))
    }
    return found.toSorted((a, b) => b.lastUsedAt - a.lastUsedAt || (a.key < b.key ? 1 : -1))
  }

  /**
   * The whole key for a key or the beginning of one; `latest`: the last used one of the working folder.
   * @throws `unknown-session`, `ambiguous-id`; `invalid-argument` for one that names nothing, such as an empty one
   */
  async find(given: string, cwd?: string): Promise<string> {
    assertKey(given)
    if (given === 'latest' && cwd !== undefined) {
      const latest = (await this.list()).find((session) => session.cwd === cwd)
      if (latest !== undefined) return latest.key
      throw new EntiaError('unknown-session', `There is no chat session of the folder ${cwd} yet.`, { cwd })
    }
    const keys = await this.#keys()
    const matching = keys.includes(given) ? [given] : keys.filter((key) => key.startsWith(given))
    const [key] = matching
    if (key !== undefined && matching.length === 1) return key
    if (key === undefined) throw unknown(`There is no chat session whose key begins with '${given}'.`, given)
    const which = `${matching.slice(0, 5).join(', ')}${matching.length > 5 ? ', …' : ''}`
    const what = `The keys of ${matching.length} chat sessions begin with '${given}': ${which}.`
    throw new EntiaError('ambiguous-id', `${what} Give more of the key.`, { key: given, matching })
  }

  /** Removes a chat session and all that is kept of it. @throws `session-in-use`, `unknown-session`, `invalid-argument` */
  async remove(key: string): Promise<void> {
    assertKey(key)
    // A key with a separator in it would lead to another folder.
    if (!(await this.#keys()).includes(key)) throw unknown(`There is no chat session '${key}'.`, key)
    const store = this.store(key)
    try {
      await store.delete(key)
    } catch (error) {
      // A chat session that was never started has no world.
      if (!(error instanceof EntiaError) || error.code !== 'no-such-world') throw inUse(key, error)
    } finally {
      await store.close()
    }
    await rm(join(this.path, key), { recursive: true, force: true })
  }

  async #keys(): Promise<readonly string[]> {
    const entries = (await unlessMissing(readdir(this.path, { withFileTypes: true })).catch(unreadable)) ?? []
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  }

  /** `undefined` for a key that is not there. */
  async describe(key: string): Promise<StoredSession | undefined> {
    const folder = await unlessMissing(stat(join(this.path, key)))
    if (folder === undefined) return undefined
    const { birthtimeMs, mtimeMs } = folder
    const { lines, usedAt = mtimeMs } = await readHead(this.transcript(key))
    const head = lines.find(({ type }) => type === 'session')
    const first = lines.find(({ role, type }) => type === 'message' && role === 'user')
    const text = first?.content?.map((block) => block.text ?? '').join('')
    return {
      key,
      createdAt: head?.createdAt ?? Math.floor(birthtimeMs),
      lastUsedAt: usedAt,
      cwd: head?.cwd,
      channel: head?.channel,
      model: head?.model,
      firstMessage: text && cutText(text, firstMessageChars).toWellFormed(),
    }
  }
}

/** Every key begins with an empty one: a variable that is not set must not name the only chat session. */
function assertKey(given: string): void {
  if (/[\p{L}\p{N}]/u.test(given)) return
  const what = `The key of a chat session must have a letter or a digit, got ${JSON.stringify(given)}.`
  throw new EntiaError('invalid-argument', `${what} listSessions() has all of them.`, { key: given })
}

function unknown(what: string, key: string): EntiaError {
  return new EntiaError('unknown-session', `${what} listSessions() has all of them.`, { key })
}

/** `world-locked`, told of a chat session; any other error as it is. */
export function inUse(key: string, error: unknown): unknown {
  if (!(error instanceof EntiaError) || error.code !== 'world-locked') return error
  const { pid } = error.details
  const who = typeof pid === 'number' ? ` in process ${pid}` : ''
  const what = `The chat session '${key}' is open${who}. Close it there, or open another one.`
  return new EntiaError('session-in-use', what, { ...error.details, key }, { cause: error })
}

/** What is read of a line of a transcript. */
const Line = lazily(() =>
  z.object({
    type: z.string().optional(),
    createdAt: z.number().optional(),
    cwd: z.string().optional(),
    channel: z.string().optional(),
    model: z.string().optional(),
    role: z.string().optional(),
    content: z.array(z.object({ text: z.string().optional() })).optional(),
  }),
)
type Line = z.infer<ReturnType<typeof Line>>

/** The first lines of a transcript, and when it was last written; nothing for one that is not there. */
async function readHead(path: string): Promise<{ readonly lines: readonly Line[]; readonly usedAt?: number }> {
  const file = await open(path).catch(() => undefined)
  if (file === undefined) return { lines: [] }
  try {
    const { mtimeMs: usedAt } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    const lines = buffer.subarray(0, bytesRead).toString('utf8').split('\n').slice(0, -1)
    return { lines: lines.map(parsed), usedAt }
  } catch {
    // One that cannot be read must not hide the other chat sessions.
    return { lines: [] }
  } finally {
    await file.close()
  }
}

function unreadable(error: Error): never {
  const what = `The folder of chat sessions cannot be read: ${error.message}.`
  throw new EntiaError('store-failed', `${what} ENTIA_DATA_DIR names the folder that it lies in.`, {}, { cause: error })
}

function parsed(line: string): Line {
  try {
    return Line().safeParse(JSON.parse(line)).data ?? {}
  } catch {
    return {}
  }
}
