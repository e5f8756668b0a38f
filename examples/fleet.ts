import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openDatabase } from './fleet/database.ts'
import { percentile, showProgress, table } from './fleet/report.ts'
import { Workers } from './fleet/workers.ts'

// A support desk with a thousand customers, on three worker processes. One of them is killed each second, in the midst of its
// work, and no customer notices: each gets one answer, and who is paid back is so once.
//
//   node examples/fleet.ts --customers 1000 --database postgres://user:password@host:5432/name

const { values } = parseArgs({
  options: {
    customers: { type: 'string', default: '1000' },
    /** A server of your own. */
    database: { type: 'string' },
  },
})
const customers = Number(values.customers)
const workerCount = 3
const killEachMs = 1_000
/** Customers who wait for an answer at the same time. */
const maxWaiting = 15

const database = await openDatabase(values.database)
// The workers' environment, too: they find the database and its schema there.
process.env['DATABASE_URL'] = database.url
process.env['DESK_SCHEMA'] = `support_desk_${process.pid}`
const { books, default: fleet } = await import('./fleet/support-desk.ts')
await books.open()

const workers = new Workers(workerCount)
const began = performance.now()
const tookMs: number[] = []
let wrong = 0
await workers.open()
const over = new AbortController()
const killing = killNowAndThen(over.signal)

let next = 1
await Promise.all(Array.from({ length: maxWaiting }, serve))
over.abort()
await killing

const lost = Math.floor(customers / 5)
const { paid, parcels } = await books.refunds()
console.log(`${customers} customers, ${workerCount} workers, one killed each second`)
console.log(
  table([
    ['answered as they should', `${customers - wrong} of ${customers}`],
    ['sessions in line or at work', `${(await fleet.status()).sessions.length}`],
    ['parcels lost, and paid back', `${lost}, ${parcels}`],
    ['paid back twice', `${paid - parcels}`],
    ['workers killed', `${workers.killed}`],
    ['answers, half of them within', `${percentile(tookMs, 50).toFixed(0)} ms`],
    ['answers, 99 of 100 within', `${percentile(tookMs, 99).toFixed(0)} ms`],
    ['in all', `${((performance.now() - began) / 1_000).toFixed(1)} s`],
  ]),
)
await workers.close()
await fleet.close()
await books.close()
await database.close()

/** Asks for one customer after the other. */
async function serve(): Promise<void> {
  while (next <= customers) {
    const parcel = next++
    const asked = performance.now()
    // It need not exist, and is driven by whichever worker is there.
    const { text } = await fleet.agent(`customer/${parcel}`).ask(`Where is my parcel ${parcel}?`)
    tookMs.push(performance.now() - asked)
    const expected = parcel % 5 === 0 ? 'lost, and you are paid back' : 'at the post office'
    if (text !== `Dear customer, your parcel ${parcel} is ${expected}.`) wrong++
    show()
  }
}

async function killNowAndThen(signal: AbortSignal): Promise<void> {
  for (;;) {
    await setTimeout(killEachMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    workers.killOne()
    show()
  }
}

function show(): void {
  const seconds = Math.round((performance.now() - began) / 1_000)
  const { count, killed } = workers
  showProgress({ answered: tookMs.length, of: customers, wrong, workers: count, killed, seconds })
}

/*
Prints with --customers 40:
40 customers, 3 workers, one killed each second
answered as they should       40 of 40
sessions in line or at work   0
parcels lost, and paid back   8, 8
paid back twice               0
workers killed                …
answers, half of them within  … ms
answers, 99 of 100 within     … ms
in all                        … s
*/
