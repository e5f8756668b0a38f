import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { decodeText } from '../../tools/files/text-encoding.ts'
import type { JsonObject } from '../../base/json.ts'
import { inHome } from '../config/folders.ts'

/** What a call of a file tool would change. */
export interface ProposedChange {
  /** As the call gives it. */
  readonly path: string
  /** Of a diff: they begin with `+`, `-`, a space or `@@`. */
  readonly lines: readonly string[]
  readonly note?: string | undefined
}

/** Files above this size are not compared. */
const maxComparedBytes = 1_000_000
const maxDiffMs = 500

/** The change that a call of `write_file` or `replace_in_file` would make; `undefined` for any other call. */
export async function proposedChange(
  tool: string,
  { all, content, new: next, old, path }: JsonObject,
  cwd: string,
): Promise<ProposedChange | undefined> {
  if (!isText(path)) return undefined
  if (tool === 'write_file' && isText(content)) return { path, ...(await written(resolve(cwd, inHome(path)), content)) }
  if (tool !== 'replace_in_file' || !isText(old) || !isText(next)) return undefined
  return { path, lines: [...signed('-', old), ...signed('+', next)], ...(all === true && { note: 'every match' }) }
}

/** The difference to the file that is there, or all of a new one. */
async function written(path: string, content: string): Promise<Omit<ProposedChange, 'path'>> {
  const before = await bytesOf(path)
  if (before === undefined) return { lines: signed('+', content) }
  if (before === 'large') return { lines: signed('+', content), note: 'all of a large file is replaced' }
  const { hasReturnsOnly, keptForm } = await import('./kept-form.ts')
  const isBinary = before.includes(0) && decodeText(before) === undefined
  if (isBinary) return { lines: signed('+', content), note: 'a binary file is replaced' }
  const { bytes } = keptForm(before, content)
  if (bytes.equals(before)) return { lines: [], note: 'the file has this content already' }
  const { structuredPatch } = await import('diff')
  const options = { context: 2, timeout: maxDiffMs }
  const lined = (text: string) => (hasReturnsOnly(text) ? text.replaceAll('\r', '\n') : text)
  const patch = structuredPatch(path, path, lined(textOf(before)), lined(textOf(bytes)), '', '', options)
  if (patch === undefined) return { lines: signed('+', content) }
  if (patch.hunks.length === 0) return { lines: [], note: 'only its line ends change' }
  return { lines: patch.hunks.flatMap(({ oldStart, lines }) => [`@@ line ${oldStart} @@`, ...lines]) }
}

/** `undefined`: no file is there. */
async function bytesOf(path: string): Promise<Buffer | 'large' | undefined> {
  try {
    const stats = await stat(path)
    if (!stats.isFile()) return undefined
    return stats.size <= maxComparedBytes ? await readFile(path) : 'large'
  } catch {
    return undefined
  }
}

function textOf(bytes: Buffer): string {
  return (decodeText(bytes)?.text ?? bytes.toString('utf8')).replaceAll('\r\n', '\n')
}

function signed(sign: '-' | '+', text: string): string[] {
  if (text === '') return []
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => sign + line)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
