import type { FileHandle } from 'node:fs/promises'
import type { Reach } from './transcript-index.ts'

const lineBreak = 0x0a
const chunkBytes = 64 * 1024

/** Of a transcript that is not there. */
export const noLines: Reach = { lines: 0, bytes: 0 }

/**
 * How far an open transcript goes. What stands behind its last line break was left by a crash, and counts for nothing.
 *
 * @param known how far it was, so that what stands before that is not read again; of a file that is shorter by now, or
 * has no line ending there, all is read
 */
export async function measured(file: FileHandle, known: Reach): Promise<Reach> {
  const { size } = await file.stat()
  const isAsKnown = known.bytes > 0 && (await readBytes(file, known.bytes - 1, 1))[0] === lineBreak
  let { lines, bytes } = isAsKnown ? known : noLines
  for (let at = bytes; at < size; at += chunkBytes) {
    const chunk = await readBytes(file, at, chunkBytes)
    for (let end = chunk.indexOf(lineBreak); end !== -1; end = chunk.indexOf(lineBreak, end + 1)) {
      lines++
      bytes = at + end + 1
    }
  }
  return { lines, bytes }
}

/** The last lines of a transcript, read from its end. */
export async function lastLines(file: FileHandle, { bytes }: Reach, count: number): Promise<readonly string[]> {
  if (count === 0) return []
  for (let sizeBytes = Math.min(chunkBytes, bytes); ; sizeBytes = Math.min(4 * sizeBytes, bytes)) {
    const text = await readBytes(file, bytes - sizeBytes, sizeBytes)
    const found = linesIn(text)
    // What stands before its first line break may be a part of a line.
    if (found.length > count || sizeBytes === bytes) return found.slice(-count)
  }
}

/** All whole lines of a text. */
export function linesIn(text: Buffer): readonly string[] {
  const end = text.lastIndexOf(lineBreak)
  return end === -1 ? [] : text.toString('utf8', 0, end).split('\n')
}

/** One line by its place; `undefined` if no line ends there. */
export async function lineAt(file: FileHandle, startByte: number, sizeBytes: number): Promise<string | undefined> {
  const text = await readBytes(file, startByte, sizeBytes + 1)
  return text.indexOf(lineBreak) === sizeBytes ? text.toString('utf8', 0, sizeBytes) : undefined
}

/** Writes lines behind the whole ones, over what a crash has left there. Durable when resolved. */
export async function extended(file: FileHandle, there: Reach, texts: readonly string[]): Promise<Reach> {
  await file.truncate(there.bytes)
  const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''))
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, there.bytes + written)
    written += bytesWritten
  }
  await file.sync()
  return { lines: there.lines + texts.length, bytes: there.bytes + bytes.length }
}

/** So many bytes, or fewer at the end of the file. */
async function readBytes(file: FileHandle, at: number, sizeBytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(sizeBytes), 0, sizeBytes, at)
  return buffer.subarray(0, bytesRead)
}
