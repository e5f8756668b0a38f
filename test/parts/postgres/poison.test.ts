import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { clerks, type ClerksOptions } from './clerks.ts'
import { newSchema } from './stores.ts'
import { WorkerProcesses } from './worker-process.ts'

function fleetOf(options: Pick<ClerksOptions, 'leaseMs' | 'steps' | 'workMs'> = {}) {
  const all = { database: inject('postgres'), schema: newSchema(), workMs: 1, steps: 1, ...options }
  const front = clerks(all)
  const workers = new WorkerProcesses(all)
  onTestFinished(async () => {
    await workers.end()
    await front.close()
  })
  return { front, workers }
}

/** Starts a worker whenever one has died, until something is done. Resolves with how many have died. */
async function whileWorkersDie(workers: WorkerProcesses, done: Promise<unknown>): Promise<number> {
  const end = done.then(() => 'done' as const)
  for (let deaths = 0; ; deaths++) {
    const worker = await workers.start()
    if ((await Promise.race([worker.ended, end])) === 'done') return deaths
  }
}

/** Several processes start one after the other. */
const longestMs = 180_000

describe('a world that kills each worker that opens it', { timeout: longestMs }, () => {
  it('is driven no more after five of them: a session has failed for its parent, and its siblings go on', async () => {
    const { front, workers } = fleetOf()
    const asked = front.agent('desk/1').ask('Jobs: deadly a')
    expect(await whileWorkersDie(workers, asked)).toBe(5)
    const { text } = await asked
    expect(text).toMatch('5 workers in a row have died while they held this session')
    expect(text).toMatch('a done')
    const quarantined = (await front.store.list()).filter(({ quarantine }) => quarantine !== undefined)
    expect(quarantined).toMatchObject([{ root: 'desk/1', quarantine: expect.stringMatching(/5 workers/) }])
    expect((await front.agent('desk/1').ask('Still there?')).text).toBe('Still there?')
  })

  it('leaves its siblings alone, which are at work beside it for longer than it takes to kill five workers', async () => {
    const { front, workers } = fleetOf({ steps: 3, workMs: 500 })
    const asked = front.agent('desk/1').ask('Jobs: a deadly b c')
    expect(await whileWorkersDie(workers, asked)).toBe(5)
    expect((await asked).text.split('; ').toSorted()).toEqual([
      expect.stringMatching('5 workers in a row have died while they held this session'),
      'a done',
      'b done',
      'c done',
    ])
    const worlds = await front.store.list()
    expect(worlds.filter(({ quarantine }) => quarantine !== undefined)).toHaveLength(1)
  })

  it('is driven no more as a root either, until it is released, and others are', async () => {
    const { front, workers } = fleetOf()
    const asked = front.agent('desk/1').ask('Die.')
    const isHeld = vi.waitFor(
      async () => expect((await front.store.list({ root: 'desk/1' }))[0]?.quarantine).toMatch('5 workers in a row'),
      { timeout: 150_000, interval: 50 },
    )
    expect(await whileWorkersDie(workers, isHeld)).toBe(5)
    expect((await front.agent('desk/2').ask('And you?')).text).toBe('And you?')
    await workers.end()
    await workers.start({ isHarmless: true })
    await front.store.release('desk/1')
    expect((await asked).text).toBe('Die.')
  })
})
