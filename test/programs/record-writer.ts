// Puts many records into a folder at once, reads them all at once, and prints how many came back as they were.
// Usage: record-writer.ts <folder>
import { folderRecords } from '../../src/engine/children/session-records.ts'

const records = folderRecords(process.argv[2] ?? '')
const keys = Array.from({ length: 500 }, (_, index) => `records/${index}`)
await Promise.all(keys.map((key) => records.put(key, key)))
const parts = await Promise.all(keys.map((key) => records.get(key)))
process.stdout.write(`${keys.filter((key, index) => parts[index]?.text === key).length}\n`)
