import type { TranscriptHit } from './port.ts'
import type { Append, Transcripts } from './medium.ts'
import type { TranscriptIndex } from './transcript-index.ts'
import { assertReached, assertRepeated } from './transcript-order.ts'

interface Searchable {
  readonly key: string
  readonly line: number
  readonly searchable: string
}

/** Transcripts that last as long as the object. They are found as those of files are: by SQLite's index, made at the first search. */
export class MemoryTranscripts implements Transcripts {
  readonly #texts = new Map<string, string[]>()
  #index: TranscriptIndex | undefined
  /** What the index does not have yet. */
  #unindexed: Searchable[] = []

  async append(append: Append): Promise<void> {
    const { key, lines, from } = append
    const texts = this.#texts.get(key) ?? []
    assertReached(append, texts.length, 'memory')
    assertRepeated(append, texts.slice(from, from + lines.length), 'memory')
    for (const { text } of lines.slice(texts.length - from)) texts.push(text)
    this.#texts.set(key, texts)
    for (const [index, { searchable }] of lines.entries()) {
      if (searchable !== undefined) this.#unindexed.push({ key, line: from + index, searchable })
    }
  }

  async read(key: string): Promise<readonly string[] | undefined> {
    const texts = this.#texts.get(key)
    return texts && [...texts]
  }

  async search(keys: readonly string[], words: readonly string[], limit: number): Promise<readonly TranscriptHit[]> {
    const { memoryTranscriptIndex } = await import('./transcript-index.ts')
    const index = (this.#index ??= memoryTranscriptIndex())
    for (const [key, lines] of Map.groupBy(this.#unindexed, (line) => line.key)) {
      const there = { lines: this.#texts.get(key)?.length ?? 0, bytes: 0 }
      const places = lines.map(({ line, searchable }) => ({ line, searchable, startByte: 0, sizeBytes: 0 }))
      index.announce(key, there, places)
    }
    this.#unindexed = []
    return index.search(keys, words, limit).map(({ key, line }) => ({
      key,
      index: line,
      text: this.#texts.get(key)?.[line] ?? '',
    }))
  }

  async remove(key: string): Promise<void> {
    this.#texts.delete(key)
    this.#index?.remove(key)
    this.#unindexed = this.#unindexed.filter((line) => line.key !== key)
  }
}
