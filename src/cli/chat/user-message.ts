import { readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { UserMessage } from '../../index.ts'
import { isCredentialFile } from '../../rules/policy/credential-paths.ts'
import { cutText } from '../../base/cut-text.ts'
import { inHome } from '../../runtime/config/folders.ts'
import { closedPlaces } from '../../runtime/policy/real-paths.ts'
import { leadsTo } from '../../tools/files/leads-to.ts'
import { decodeText } from '../../tools/files/text-encoding.ts'
import { maxPictureBytes, mediaTypeOf, tooLarge } from './pictures.ts'

/** Names of files that are pictures. */
const pictureNames = /\.(?:png|jpe?g|gif|webp)$/i
const maxTextChars = 50_000
const maxFileBytes = 5_000_000

type Block = UserMessage['content'][number]

/** `@path`, or `@"path"` where it has blanks in it. */
const mentions = /(?:^|\s)@(?:"([^"\n]+)"|(\S+))/g

/**
 * A text with the files that it names by `@path`: text as text, pictures as pictures. `notes`: what was left out.
 *
 * @param typed where names of files are looked for: what was pasted names none. @default all of the text
 * @param more pictures that were pasted, and what else goes along
 */
export async function userMessage(
  text: string,
  cwd: string,
  typed: string = text,
  more: readonly Block[] = [],
): Promise<{ readonly message: UserMessage; readonly notes: readonly string[] }> {
  const mentioned = new Set(
    Array.from(typed.matchAll(mentions), ([, quoted, plain = '']) => quoted ?? plain.replace(/[,;:!?)]+$/, '')),
  )
  const found = await Promise.all(Array.from(mentioned, (path) => fileBlock(path, cwd)))
  const blocks = found.filter((block) => typeof block === 'object')
  const notes = found.filter((block) => typeof block === 'string')
  return { message: { role: 'user', content: [{ type: 'text', text }, ...blocks, ...more] }, notes }
}

/** The text of such a message as it was typed, without the files that were added to it. */
export function saidText({ content }: UserMessage): string {
  const [first] = content
  return first?.type === 'text' ? first.text : ''
}

/** A text: why the file is not added; `undefined`: there is no such file, and `@` was none's. */
async function fileBlock(path: string, cwd: string): Promise<Block | string | undefined> {
  const full = resolve(cwd, inHome(path))
  const stats = await stat(full).catch(() => undefined)
  if (stats === undefined || stats.isDirectory()) return undefined
  if (!stats.isFile()) return `@${path} is no regular file, and is not added.`
  if (await hidesSecrets(full, cwd)) return `@${path} is a link to a file that may hold secrets, and is not added.`
  if (stats.size > maxFileBytes) return `@${path} is larger than ${maxFileBytes / 1e6} MB, and is not added.`
  const bytes = await readFile(full)
  const isPicture = pictureNames.test(full)
  if (isPicture && bytes.length > maxPictureBytes) return tooLarge(`@${path}`, bytes.length)
  const mediaType = isPicture ? mediaTypeOf(bytes) : undefined
  if (isPicture && mediaType === undefined) return `@${path} is no PNG, JPEG, GIF or WebP picture, and is not added.`
  if (mediaType !== undefined) return { type: 'file', mediaType, data: bytes.toString('base64'), name: path }
  const text = decodeText(bytes)
  if (text === undefined && bytes.includes(0)) return `@${path} is a binary file, and is not added.`
  const content = text?.text ?? bytes.toString('utf8')
  const shown = content.length > maxTextChars ? `${cutText(content, maxTextChars)}\n[cut here]` : content
  return { type: 'text', text: `<file path=${JSON.stringify(path)}>\n${shown}\n</file>` }
}

/** A project may have a harmless name lead to a key. Who names the key itself means it. */
async function hidesSecrets(path: string, cwd: string): Promise<boolean> {
  const real = await leadsTo(path)
  const closed = await closedPlaces({ channel: 'cli', cwd, home: homedir() })
  const isSecret = (one: string): boolean => isCredentialFile(one) || closed.kindOf(one) === 'credential'
  return real !== path && isSecret(real) && !isSecret(path)
}
