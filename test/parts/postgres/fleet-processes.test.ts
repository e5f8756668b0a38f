import { setTimeout } from 'node:timers/promises'
import type { Fleet } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { clerks, type ClerksOptions } from './clerks.ts'
import { newSchema } from './stores.ts'
import { WorkerProcesses } from './worker-process.ts'

/** A program that speaks to the worlds of a fleet and drives none, and those that drive them. */
function fleetOf(options: Partial<ClerksOptions> = {}): { readonly front: Fleet; readonly workers: WorkerProcesses } {
  const all = { database: inject('postgres'), schema: newSchema(), ...options }
  const front = clerks(all)
  const workers = new WorkerProcesses(all)
  onTestFinished(async () => {
    await workers.end()
    await front.close()
  })
  return { front, workers }
}

/** The value that so many of a hundred do not exceed. */
function percentile(values: readonly number[], percent: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil((values.length * percent) / 100) - 1] ?? 0
}

const jobsOf = (name: string, count: number): string[] => Array.from({ length: count }, (_, job) => `${name}${job}`)
const answerOf = (jobs: readonly string[]): string => jobs.map((job) => `${job} done`).join('; ')

/** The process that holds a root world, unless it is that one. */
async function holderOf(front: Fleet, name: string, otherThan = 0): Promise<number> {
  for (;;) {
    const worlds = await front.store.list({ root: name })
    const pid = worlds.find((world) => world.name === name)?.heldBy?.pid
    if (pid !== undefined && pid !== otherThan) return pid
    await setTimeout(10)
  }
}

describe('a worker process that is killed', () => {
  it('is followed by another within a second, in each session and each root that it held', async () => {
    const { front, workers } = fleetOf({ workMs: 30, steps: 10 })
    await Promise.all([workers.start(), workers.start()])
    const recoveredMs: number[] = []
    for (let round = 0; round < 6; round++) {
      const name = `desk/${round}`
      const jobs = jobsOf(`${round}-`, 6)
      const asked = front.agent(name).ask(`Jobs: ${jobs.join(' ')}`)
      const { pid: worker } = await workers.says((said) => said.what === 'tool' && said.step === 1)
      const holder = await holderOf(front, name)
      // Every other time it is the holder of the root, which has sessions or has none.
      const pid = round % 2 === 0 ? worker : holder
      const last = new Map(workers.heard.flatMap((said) => ('job' in said ? [[said.job, said.pid]] : [])))
      const held = jobs.filter((job) => last.get(job) === pid)
      await workers.running.find((each) => each.pid === pid)?.kill()
      const killedMs = performance.now()
      const goesOn = held.map((job) => workers.says((said) => 'job' in said && said.job === job && said.pid !== pid))
      const recoveries = goesOn.map(async (said) => recoveredMs.push((await said).atMs - killedMs))
      if (pid === holder) {
        await holderOf(front, name, pid)
        recoveredMs.push(performance.now() - killedMs)
      }
      await Promise.all(recoveries)
      expect((await asked).text).toBe(answerOf(jobs))
      await workers.start()
    }
    expect(workers.doubles('once')).toEqual([])
    expect(recoveredMs.length).toBeGreaterThan(12)
    expect(percentile(recoveredMs, 95)).toBeLessThan(1_000)
  })
})

describe('a tool that writes to the world of its call', () => {
  it.each([
    ['of a root', 'Tell.', 'read note 1 of desk, note 2 of desk'],
    ['of a session', 'Jobs: telling', 'read note 1 of telling, note 2 of telling'],
  ])('%s says nothing twice when its worker is killed between a note and its outcome', async (_, said, heard) => {
    const { front, workers } = fleetOf({ tellMs: 600_000 })
    await workers.start()
    const told = workers.says(({ what }) => what === 'told')
    const asked = front.agent('desk/telling').ask(said)
    const { pid } = await told
    await workers.start({ tellMs: 0 })
    const again = workers.says((each) => each.what === 'told' && each.pid !== pid)
    await workers.running.find((each) => each.pid === pid)?.kill()
    await again
    expect((await asked).text).toBe(heard)
    const keys = workers.heard.flatMap((each) => (each.what === 'told' ? each.key : []))
    expect([keys.length, new Set(keys).size]).toEqual([2, 1])
  })
})
