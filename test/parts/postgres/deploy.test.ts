import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { clerks, type ClerksOptions } from './clerks.ts'
import { newSchema } from './stores.ts'
import { WorkerProcesses } from './worker-process.ts'

function fleetOf(options: Partial<ClerksOptions>) {
  const all = { database: inject('postgres'), schema: newSchema(), ...options }
  const front = clerks(all)
  const workers = new WorkerProcesses(all)
  onTestFinished(async () => {
    await workers.end()
    await front.close()
  })
  return { front, workers }
}

describe('a deploy under load', () => {
  it('of workers with a changed tool fails no session, and runs no `once` tool twice', async () => {
    const { front, workers } = fleetOf({ steps: 6, workMs: 30 })
    const old = await Promise.all([workers.start(), workers.start()])
    const isOld = (pid: number): boolean => old.some((worker) => worker.pid === pid)
    const runsOfNewOnes = (): number => workers.heard.filter((said) => said.what === 'tool' && !isOld(said.pid)).length
    const desks = [0, 1, 2].map(async (desk) => {
      const name = `desk/${desk}`
      for (let round = 0; ; round++) {
        const jobs = [0, 1, 2].map((job) => `job${desk}.${round}.${job}`)
        const { text } = await front.agent(name).ask(`Jobs: ${jobs.join(' ')}`)
        expect(text).toBe(jobs.map((job) => `${job} done`).join('; '))
        if (runsOfNewOnes() <= 30) continue
        const sessions = await front.agent(name).sessions()
        expect(sessions.map(({ status }) => status)).toEqual(Array(3 * (round + 1)).fill('succeeded'))
        return
      }
    })
    await workers.says((said) => said.what === 'tool' && said.step === 2)
    // New ones come, and each old one is told to end, while all of them work.
    for (const each of old) {
      await workers.start({ version: 2 })
      each.signal('SIGTERM')
      await each.ended
    }
    await Promise.all(desks)
    expect(workers.doubles('once')).toEqual([])
    expect(workers.heard.filter(({ what }) => what === 'unfit')).toEqual([])
  }, 180_000)
})

describe('workers whose clocks are an hour apart', () => {
  it('take over from each other at once, park and wake worlds, and hold nothing for longer', async () => {
    const hourMs = 3_600_000
    const { front, workers } = fleetOf({ steps: 4, leaseMs: 2_000, idleMs: 50 })
    const [behind] = await Promise.all([
      workers.start({ clockAheadMs: -hourMs }),
      workers.start({ clockAheadMs: hourMs }),
    ])
    expect((await front.agent('desk/1').ask('Jobs: a b c d')).text).toBe('a done; b done; c done; d done')
    const asked = front.agent('desk/1').ask('Jobs: e f g h')
    const { pid } = await workers.says((said) => said.what === 'tool' && said.step === 1)
    const holder = workers.running.find((each) => each.pid === pid) ?? behind
    await holder.kill()
    expect((await asked).text).toBe('e done; f done; g done; h done')
    expect((await front.agent('desk/1').ask('Still there?')).text).toBe('Still there?')
    expect(workers.doubles('once')).toEqual([])
  })
})
