import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, sqliteStore, type Store } from 'entia'
import type { TranscriptLine } from 'entia/stores'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describeTranscripts } from './transcripts-suite.ts'

function inFile(): Store {
  const folder = mkdtempSync(join(tmpdir(), 'entia-transcripts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return sqliteStore({ folder, synchronous: 'normal' })
}

describeTranscripts([
  { name: 'memory', make: memoryStore },
  { name: 'sqlite', make: inFile },
])

const key = 'agents/subagent-1/sessions/1.jsonl'
const other = 'agents/subagent-2/sessions/2.jsonl'

/** A line that is found by these words. */
function said(searchable: string): TranscriptLine {
  return { text: JSON.stringify({ said: searchable }), searchable }
}

describe('a search in memory and one in files', () => {
  const word = fc.constantFrom('ape', 'bee', 'cat', 'dog', 'eel', 'Fox', 'FOX', 'gnü', 'hen')
  const line = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => said(words.join(' ')))

  it('give the same, in the same order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.array(word, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 30 }),
        async (some, more, words, limit) => {
          const results = []
          for (const store of [memoryStore(), inFile()]) {
            const gone = 'gone.jsonl'
            await store.appendTranscript('root', key, some, { from: 0 })
            await store.appendTranscript('root', gone, more, { from: 0 })
            if (limit % 2 === 0) await store.searchTranscript('root', [key], 'ape', { limit })
            await store.appendTranscript('root', other, more, { from: 0 })
            await store.deleteTranscript('root', gone)
            results.push(await store.searchTranscript('root', [key, other], words.join(', '), { limit }))
            await store.close()
          }
          expect(results[0]).toEqual(results[1])
        },
      ),
      { numRuns: 15 },
    )
  })
})
