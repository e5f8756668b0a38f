// Writes two worlds of one root, a row each a turn, until it is killed, and prints the tick of each turn whose commits
// were acknowledged. Goes on where the worlds end. Usage: store-writer.ts <folder>
import { sqliteStore } from 'entia'
import { flushCompileCache } from 'node:module'

const folder = process.argv[2] ?? ''
const maxTicks = 100_000
const store = sqliteStore({ folder })
const journals = [await store.open('root', { holder: 'the writer' }), await store.open('child', { root: 'root' })]
const stored = await Promise.all(journals.map((journal) => journal.load()))
let tick = stored[0]?.rows.at(-1)?.tick ?? stored[0]?.snapshot.tick ?? -1

// It is killed before it could leave what was compiled of it, which the next one starts with.
flushCompileCache()
// Its end is the end of the test that started it.
process.stdin.on('end', () => process.exit()).resume()

for (const last = tick + maxTicks; tick < last;) {
  tick++
  const isFirst = tick === 0
  const rows = isFirst ? [] : [{ tick, line: `${tick}:${'r'.repeat(3000)}` }]
  const lines = [`${tick}:${'s'.repeat(20_000)}`, 'end']
  const snapshot = isFirst || tick % 7 === 0 ? { tick, lines } : undefined
  await Promise.all(journals.map((journal) => journal.commit({ rows, snapshot })))
  process.stdout.write(`${tick}\n`)
}
