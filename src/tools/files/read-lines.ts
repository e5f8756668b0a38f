import type { ToolContext, ToolOutput } from '../port.ts'
import { type FileReach, openInside } from './confined-folder.ts'
import { maxLineChars } from './limits.ts'
import { refusable, Refusal } from './refusal.ts'
import { ResultLines, shownLine } from './result-lines.ts'
import { BinaryFile, textChunks } from './text-chunks.ts'

const progressBytes = 64 * 1024 * 1024

/** Larger files are read only as far as shown, and their lines not counted. */
const maxCountedBytes = 64 * 1024 * 1024

/** Which lines of which file to read. */
export interface ReadRequest {
  readonly path: string
  /** 1-based. */
  readonly from: number
  readonly lines: number
  readonly lineNumbers: boolean
}

/** Does the work of `read_file`. */
export function readLines(reach: FileReach, request: ReadRequest, context: ToolContext): Promise<string | ToolOutput> {
  return refusable(request.path, () => read(reach, request, context))
}

/** Reads files up to `maxCountedBytes` to the end: the note tells the number of lines. */
async function read(reach: FileReach, input: ReadRequest, context: ToolContext): Promise<string> {
  const { path, from, lineNumbers } = input
  const { root, realPath, stats } = await reach.find(path)
  if (stats.isDirectory()) throw Refusal.of(path, 'is a folder, not a file.')
  if (!stats.isFile()) throw Refusal.of(path, 'is no regular file.')
  const { handle } = await openInside(root, realPath)
  const result = new ResultLines()
  const isCounted = stats.size <= maxCountedBytes
  let count = 0
  let readBytes = 0
  let lineStartBytes = 0
  try {
    reach.noteRead?.(realPath, await handle.stat({ bigint: true }))
    for await (const { lines, sizeBytes } of textChunks(handle, { maxLineChars, signal: context.signal })) {
      for (const line of lines) {
        count++
        if (count < from || result.count === input.lines || result.isFull) continue
        const text = shownLine(line, maxLineChars)
        result.add(lineNumbers ? `${count}\t${text}` : text)
      }
      const isRound = Math.floor(readBytes / progressBytes) < Math.floor((readBytes + sizeBytes) / progressBytes)
      readBytes += sizeBytes
      if (isRound) context.progress(`read ${Math.floor(readBytes / 1e6)} MB`, Math.min(1, readBytes / stats.size))
      if (isCounted || sizeBytes === 0) continue
      if (lines.length > 0) lineStartBytes = readBytes
      const isLineEndless = readBytes - lineStartBytes > maxCountedBytes
      if (!isLineEndless && result.count < input.lines && !result.isFull) continue
      const size = sizeText(stats.size)
      if (result.count > 0) return result.text([bigFileNote(from, result.count, size, isLineEndless)])
      const longer = `line ${count + 1} is longer than ${maxCountedBytes / 1024 / 1024} MB`
      throw Refusal.of(path, `(${size}) cannot be read there: ${longer}.`)
    }
  } catch (error) {
    if (error instanceof BinaryFile) throw Refusal.of(path, 'is a binary file.')
    throw error
  }
  if (count === 0 && from === 1) return '[empty file]'
  if (from > count) throw Refusal.of(path, `has ${count} lines; from=${from} is past its end.`)
  return result.text(rangeNote(from, from + result.count - 1, count))
}

function bigFileNote(from: number, shown: number, size: string, isLineEndless: boolean): string {
  const next = from + shown
  const rest = isLineEndless ? `line ${next} is too long to read` : `read on with from=${next}`
  return `lines ${from}-${next - 1}; ${size}; ${rest}`
}

function sizeText(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`
}

function rangeNote(first: number, last: number, count: number): string[] {
  if (last < count) return [`lines ${first}-${last} of ${count}; read on with from=${last + 1}`]
  return first > 1 ? [`lines ${first}-${last} of ${count}`] : []
}
