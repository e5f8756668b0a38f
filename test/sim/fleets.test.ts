import { simulate } from 'entia/sim'
import { describe, expect, it } from 'vitest'
import backgroundSessions from '../stories/told/background-sessions.ts'
import { everyFleetFault } from '../stories/told/every-fault.ts'

const story = { ...backgroundSessions, processes: 3, faults: everyFleetFault }

describe('a run with three processes', () => {
  it('is the same every time under one seed', async () => {
    const [one, two] = [await simulate({ ...story, seed: 7 }), await simulate({ ...story, seed: 7 })]
    expect(one.trace.hash).toBe(two.trace.hash)
    expect(one.hash).toBe(two.hash)
  })

  it('is made again by the list of its faults', async () => {
    const run = await simulate({ ...story, seed: 3 })
    const again = await simulate({ ...story, seed: 3, faults: run.faults })
    expect(again.trace.hash).toBe(run.trace.hash)
  })

  it('spreads the work: each process makes calls', async () => {
    const { trace } = await simulate({ ...backgroundSessions, processes: 3, faults: {}, seed: 2 })
    const processes = new Set(
      trace.entries.flatMap(({ facts, type }) => (type.endsWith('-began') ? facts['process'] : [])),
    )
    expect(processes.size).toBeGreaterThan(1)
  })

  it('refuses what only one process has', async () => {
    const recording = { root: 'a', worlds: [] } as never
    await expect(simulate({ ...story, recording })).rejects.toMatchObject({ code: 'invalid-argument' })
    await expect(simulate({ ...backgroundSessions, letters: [{ to: 'a', say: 'b' }] })).rejects.toThrow(
      'several processes',
    )
  })
})
