import { collapsed } from '../base/one-line.ts'
import { unlessMissing } from '../base/unless-missing.ts'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { plainText } from '../tools/files/clean-text.ts'
import { EntiaError } from '../index.ts'
import { cutText } from '../base/cut-text.ts'
import type { SessionFolder, StoredSession } from '../runtime/chat/session-folder.ts'
import { didYouMean } from '../base/near-names.ts'
import { messageText, type Spoken } from './message-text.ts'
import { parsedWords, UsageError } from './parsed-words.ts'
import { tableLines } from './table-lines.ts'

const sessionsHelp = `Look at stored chats, and remove them.

  entia sessions list            list those of this folder, the latest first
  entia sessions list --all      list those of all folders
  entia sessions show KEY        show what was said
  entia sessions remove KEY...   remove them

KEY may be the beginning of a key. --json prints one JSON object a line.
To continue a chat: entia --resume KEY
`

export interface SessionsPlace {
  readonly folder: SessionFolder
  readonly cwd: string
  readonly stdout: { write(text: string): unknown }
}

const verbs = ['list', 'show', 'remove'] as const

/** `entia sessions`: returns the exit code. @throws UsageError, `unknown-session`, `ambiguous-id`, `session-in-use` */
export async function sessionsCommand(words: readonly string[], place: SessionsPlace): Promise<number> {
  const { values, positionals } = parsedWords(words, {
    all: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  const [given = 'list', ...keys] = positionals
  if (values.help === true) {
    place.stdout.write(sessionsHelp)
    return 0
  }
  const verb = verbs.find((each) => each === given)
  if (verb === undefined)
    throw new UsageError(`There is no command 'entia sessions ${given}'.${didYouMean(given, verbs)}`)
  const isJson = values.json === true
  if (verb === 'list') return list({ isAll: values.all === true, isJson }, place)
  if (keys.length === 0) throw new UsageError(`entia sessions ${verb} needs a key. entia sessions list shows them.`)
  const found: string[] = []
  // All are looked up before one is removed.
  for (const key of keys) {
    if (verb === 'remove' && key === 'latest')
      throw new EntiaError('unknown-session', 'Name the chat to remove by its key.')
    found.push(await place.folder.find(key, resolve(place.cwd)))
  }
  for (const key of found) await (verb === 'show' ? show(key, isJson, place) : remove(key, place))
  return 0
}

async function list(
  { isAll, isJson }: { readonly isAll: boolean; readonly isJson: boolean },
  { cwd, folder, stdout }: SessionsPlace,
): Promise<number> {
  const here = resolve(cwd)
  const all = await folder.list()
  const shown = isAll ? all : all.filter((session) => session.cwd === here)
  if (isJson) for (const session of shown) stdout.write(`${JSON.stringify(session)}\n`)
  else if (shown.length > 0) stdout.write(`${rowsOf(shown, isAll).join('\n')}\n`)
  else {
    const others = all.length === 0 ? '' : ` ${all.length} in other folders: entia sessions list --all`
    stdout.write(`There is no stored chat${isAll ? '' : ' in this folder'}.${others}\n`)
  }
  return 0
}

function rowsOf(sessions: readonly StoredSession[], isAll: boolean): string[] {
  const rows = sessions.map(({ cwd = '', firstMessage = '', key, lastUsedAt, model = '' }) => [
    key,
    new Date(lastUsedAt).toISOString().slice(0, 16).replace('T', ' '),
    model,
    ...(isAll ? [cwd] : []),
    cutText(collapsed(plainText(firstMessage)), 60),
  ])
  return tableLines(rows)
}

async function show(key: string, isJson: boolean, { folder, stdout }: SessionsPlace): Promise<void> {
  const text = (await unlessMissing(readFile(folder.transcript(key), 'utf8'))) ?? ''
  if (isJson) return void stdout.write(text)
  const lines = text.split('\n').flatMap(spoken)
  stdout.write(lines.length === 0 ? `Nothing has been said in ${key}.\n` : `${lines.join('\n\n')}\n`)
}

async function remove(key: string, { folder, stdout }: SessionsPlace): Promise<void> {
  await folder.remove(key)
  stdout.write(`Removed ${key}.\n`)
}

/** A line of a transcript as a person reads it; torn ones and those without words are left out. */
function spoken(line: string): string[] {
  const entry = parsed(line)
  if (entry?.type !== 'message' || !Array.isArray(entry.content)) return []
  const text = messageText({ role: entry.role, content: entry.content })
  return text === '' ? [] : [text]
}

function parsed(line: string): { type?: string; role?: string; content?: Spoken['content'] } | undefined {
  try {
    return JSON.parse(line) as { type?: string }
  } catch {
    return undefined
  }
}
