import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Past } from '../../../src/inspector/page/data/past.ts'
import type { SavedWorld } from '../../../src/engine/recording/recording.ts'
import type { TicksQuery, TicksReply } from '../../../src/inspector/reading/wire.ts'
import { RawWorld } from '../../../src/world/raw-world.ts'
import { savedRun } from './saved-runs.ts'

describe('a world that the page holds', () => {
  it('goes back by as many deltas as ticks, and asks for nothing within what it holds', async () => {
    const [, { name, rows, snapshot }] = (await savedRun({ sessions: 1, steps: 20 })) as readonly [
      SavedWorld,
      SavedWorld,
    ]
    let asked = 0
    const newest = rows.at(-1)?.tick ?? 0
    const fetch = async ({ snapshot: isWhole }: TicksQuery): Promise<TicksReply> => {
      asked++
      return { ...(isWhole && { snapshot }), rows, newest, isCut: false }
    }
    const past = new Past({ world: name, known: {}, fetch })
    await past.goTo(Infinity)
    const [back, forward] = [vi.spyOn(RawWorld.prototype, 'back'), vi.spyOn(RawWorld.prototype, 'forward')]
    onTestFinished(() => void vi.restoreAllMocks())
    await past.goTo(newest - 1)
    expect([back.mock.calls.length, forward.mock.calls.length]).toEqual([1, 0])
    await past.goTo(newest - 6)
    await past.goTo(newest - 5)
    expect([back.mock.calls.length, forward.mock.calls.length]).toEqual([6, 1])
    expect(asked).toBe(1)
  })

  it('stops at a row that is damaged, at each try', async () => {
    const [, { name, rows, snapshot }] = (await savedRun({ sessions: 1 })) as readonly [SavedWorld, SavedWorld]
    const damaged = rows.map(({ line, tick }) => ({
      tick,
      line: tick === 3 ? line.replace('"tick":3', '"tick":4') : line,
    }))
    const newest = rows.at(-1)?.tick ?? 0
    const fetch = async ({ from = 0, snapshot: isWhole }: TicksQuery): Promise<TicksReply> => {
      return { ...(isWhole && { snapshot }), rows: damaged.filter(({ tick }) => tick >= from), newest, isCut: false }
    }
    const past = new Past({ world: name, known: {}, fetch })
    for (const _ of ['at first', 'and again'])
      await expect(past.goTo(Infinity)).rejects.toThrow(`world '${name}', tick 3: the line does not follow`)
    expect(past.world?.tick).toBe(2)
    expect(await past.goTo(1)).toBe(true)
  })
})
