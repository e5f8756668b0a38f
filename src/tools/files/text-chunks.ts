import type { FileHandle } from 'node:fs/promises'
import { TextDecoder } from 'node:util'
import { cutText } from '../../base/cut-text.ts'
import { encodingOf } from './text-encoding.ts'

/** Without its line break. */
export interface TextLine {
  readonly text: string
  /** Number of characters after `text`. */
  readonly leftOut: number
}

/** The lines that end in one piece of a file. */
export interface TextChunk {
  readonly lines: readonly TextLine[]
  readonly sizeBytes: number
}

/** Its first bytes are those of no text. */
export class BinaryFile extends Error {
  override readonly name = 'BinaryFile'
}

const chunkBytes = 256 * 1024

/**
 * Reads lines in pieces: memory holds one piece, and at most `maxLineChars` of a line. UTF-8 or UTF-16 (`encodingOf`); lines
 * end in `\n` or `\r\n`, or in `\r` where the first piece has no other line end.
 *
 * @param handle is closed at the end
 * @throws BinaryFile
 */
export async function* textChunks(
  handle: FileHandle,
  { maxLineChars, signal }: { readonly maxLineChars: number; readonly signal: AbortSignal },
): AsyncGenerator<TextChunk> {
  try {
    const splitter = new LineSplitter(maxLineChars)
    const buffer = new Uint8Array(chunkBytes)
    let decoder: TextDecoder | undefined
    let lineEnd: LineEnd | undefined
    for (;;) {
      signal.throwIfAborted()
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes, null)
      const bytes = buffer.subarray(0, bytesRead)
      decoder ??= decoderOf(bytes)
      if (bytesRead === 0) break
      const text = decoder.decode(bytes, { stream: true })
      lineEnd ??= text.includes('\n') || !/\r./.test(text) ? '\n' : '\r'
      yield { lines: splitter.push(text, lineEnd), sizeBytes: bytesRead }
    }
    yield { lines: splitter.end(decoder.decode(), lineEnd ?? '\n'), sizeBytes: 0 }
  } finally {
    await handle.close()
  }
}

function decoderOf(head: Uint8Array): TextDecoder {
  const encoding = encodingOf(head)
  if (encoding === undefined) throw new BinaryFile('its first bytes are those of no text')
  return new TextDecoder(encoding)
}

type LineEnd = '\n' | '\r'

class LineSplitter {
  readonly #maxLineChars: number
  /** Start of the current line, plus one character so that a cut does not split a surrogate pair. */
  #start = ''
  #lengthChars = 0
  #endsInReturn = false

  constructor(maxLineChars: number) {
    this.#maxLineChars = maxLineChars
  }

  push(text: string, lineEnd: LineEnd): TextLine[] {
    const lines: TextLine[] = []
    let from = 0
    for (let end = text.indexOf(lineEnd); end !== -1; end = text.indexOf(lineEnd, from)) {
      this.#keep(text.slice(from, end))
      lines.push(this.#finish())
      from = end + 1
    }
    this.#keep(text.slice(from))
    return lines
  }

  /** A last line without a line break counts, an empty one does not. */
  end(text: string, lineEnd: LineEnd): TextLine[] {
    const lines = this.push(text, lineEnd)
    return this.#lengthChars === 0 ? lines : [...lines, this.#finish()]
  }

  #keep(piece: string): void {
    if (piece === '') return
    const room = this.#maxLineChars + 1 - this.#start.length
    if (room > 0) this.#start += piece.slice(0, room)
    this.#lengthChars += piece.length
    this.#endsInReturn = piece.endsWith('\r')
  }

  #finish(): TextLine {
    const lengthChars = this.#lengthChars - (this.#endsInReturn ? 1 : 0)
    const text = cutText(this.#start.slice(0, lengthChars), this.#maxLineChars)
    this.#start = ''
    this.#lengthChars = 0
    this.#endsInReturn = false
    return { text, leftOut: lengthChars - text.length }
  }
}
