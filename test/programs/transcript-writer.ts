// Appends batches of lines to a transcript until it is killed or an append is refused, and prints how many lines were
// acknowledged, or by which error. Goes on with the batch that the transcript ends in, from its first line, as one does who
// does not know how the last append ended. Usage: transcript-writer.ts <folder> <lines a batch>
import { EntiaError, sqliteStore } from 'entia'
import { flushCompileCache } from 'node:module'
import { writtenKey, writtenLine } from './written-line.ts'

const [, , folder = '', batch = '1'] = process.argv
const maxLines = 1_000_000
const size = Number(batch)
const store = sqliteStore({ folder })

// It is killed before it could leave what was compiled of it, which the next one starts with.
flushCompileCache()
// Its end is the end of the test that started it.
process.stdin.on('end', () => process.exit()).resume()

const there = (await store.transcript('root', writtenKey))?.length ?? 0
try {
  const journal = await store.open('root', { holder: 'the writer' })
  for (let from = there - (there % size); from < maxLines; from += size) {
    const lines = Array.from({ length: size }, (_, index) => writtenLine(from + index))
    await store.appendTranscript('root', writtenKey, lines, { from })
    process.stdout.write(`${from + size}\n`)
  }
  await journal.close()
} catch (error) {
  if (!(error instanceof EntiaError)) throw error
  process.stdout.write(`${error.code}: ${error.message}\n`)
  process.exit()
}
