// Opens a world, says so, and holds it until its standard input ends. If it is refused, it says by which error and who
// holds the world. Usage: store-holder.ts <folder> <world> <holder>
import { EntiaError, sqliteStore } from 'entia'

const [, , folder = '', world = '', holder] = process.argv
const store = sqliteStore({ folder })
try {
  const journal = await store.open(world, { holder })
  if (!(await journal.load())) await journal.commit({ snapshot: { tick: 0, lines: ['{}'] } })
  process.stdout.write('held\n')
  process.stdin.on('end', () => void store.close()).resume()
} catch (error) {
  if (!(error instanceof EntiaError)) throw error
  process.stdout.write(`${error.code}: ${String(error.details['holder'])}\n`)
  process.stdin.destroy()
}
