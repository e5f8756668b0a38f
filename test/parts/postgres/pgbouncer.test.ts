import { agent, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { defineFleet, type Fleet } from 'entia/postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newDatabases } from './new-databases.ts'
import { hasPgBouncer, PgBouncer } from './pgbouncer.ts'
import { storeIn } from './stores.ts'

const clerk = scripted(
  ({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return `Helped: ${textOf(last)}`
    const text = textOf(last)
    if (!text.startsWith('Ask')) return `done ${text}`
    return { toolCalls: [{ name: 'subagent', arguments: { category: 'helper', prompt: text.slice(4) } }] }
  },
  { latencyMs: 20 },
)

function desk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'desk/clerk' }), SubagentRegistry({ subagents: { helper: { name: 'helper' } } }))
  return world
}

/** A fleet of processes behind PgBouncer, each with one connection past it. */
async function behind() {
  const [direct = ''] = await newDatabases(1)
  const bouncer = await PgBouncer.start(direct)
  onTestFinished(() => bouncer.stop())
  const open = (): Fleet => {
    const fleet = defineFleet({ database: bouncer.url, direct, worlds: { desk }, models: { desk: clerk }, idleMs: 50 })
    onTestFinished(() => fleet.close())
    return fleet
  }
  return { bouncer, direct, open }
}

const names = Array.from({ length: 40 }, (_, at) => `desk/${at}`)
const askAll = (fleet: Fleet, what: string) =>
  Promise.all(names.map(async (name) => (await fleet.agent(name).ask(`Ask ${what}`)).text))

const title = 'a fleet behind PgBouncer, in its mode of transactions'
const why = hasPgBouncer ? '' : ' (skipped: this machine has no pgbouncer; apt-get install pgbouncer)'

describe.skipIf(!hasPgBouncer)(`${title}${why}`, { timeout: 60_000 }, () => {
  it('drives worlds and their sessions in two workers, hands on, and goes on', async () => {
    const { open } = await behind()
    const [front, one, two] = [open(), open(), open()]
    const first = await one.work()
    await two.work()
    expect(await askAll(front, 'this')).toEqual(names.map(() => 'Helped: done this'))
    const asked = askAll(front, 'that')
    await first.stop()
    expect(await asked).toEqual(names.map(() => 'Helped: done that'))
    expect(await front.status()).toMatchObject({ sessions: [] })
  })

  it('waits for it while it is started again, and no worker is thought dead', async () => {
    const { bouncer, open } = await behind()
    const [front, back] = [open(), open()]
    const worker = await back.work()
    await askAll(front, 'this')
    const asked = askAll(front, 'that')
    await bouncer.kill()
    await bouncer.begin()
    expect(await asked).toEqual(names.map(() => 'Helped: done that'))
    expect(await worker.metrics()).toMatchObject({ fenced: 0, recovered: 0 })
  })

  it('keeps large letters, texts and transcripts, and finds words in them', async () => {
    const { bouncer, direct } = await behind()
    const store = storeIn('entia', { database: bouncer.url, direct })
    const line = 'ä'.repeat(2_000_000)
    await Promise.all(Array.from({ length: 5 }, () => store.post({ world: 'a', line })))
    await store.putText('a', 'key', line)
    await store.appendTranscript('a', 'a.jsonl', [{ text: '{}', searchable: 'a needle' }], { from: 0 })
    expect(await store.getText('a', 'key')).toBe(line)
    expect(await store.searchTranscript('a', ['a.jsonl'], 'needle', { limit: 1 })).toHaveLength(1)
    const journal = await store.open('a')
    expect((await journal.letters()).map((letter) => letter.line === line)).toEqual(Array(5).fill(true))
  })
})
