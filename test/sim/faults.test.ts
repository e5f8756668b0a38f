import { describe, expect, it } from 'vitest'
import { Conversation, LastTurn, sqliteStore } from 'entia'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Fault, type FaultName, faultNames, type FaultRates, simulate } from '../../src/sim/index.ts'
import { smallTeam } from './small-team.ts'

const all = Object.entries(faultNames).flatMap(([site, names]) => names.map((name) => `${site}.${name}` as FaultName))

/** Of processes that share a store: there have to be several. */
const isOfFleets = (what: FaultName): boolean => /^(process|net|notify|dispatch|clock)\./.test(what)

/** Whoever is suspected, replaced or cut off at every fifth call gets nowhere. */
function rateOf(what: FaultName): number {
  if (what === 'process.suspect') return 0.01
  return /^(process|net)\./.test(what) ? 0.05 : 0.2
}

/** Only this fault, often. */
function often(what: FaultName, rate: number): FaultRates {
  const [site, name] = what.split('.') as [keyof FaultRates, string]
  const isPlace = site === 'crash' && name !== 'child'
  return { [site]: { [isPlace ? 'perTick' : name]: rate } }
}

describe('a fault', () => {
  // Nobody asks for an approval here.
  it.for(all.filter((what) => what !== 'users.approval'))(
    '%s strikes, is told in the trace, and the run comes to its end',
    async (what) => {
      let struckRuns = 0
      const processes = isOfFleets(what) ? 3 : 1
      for (let seed = 1; seed <= 10 && struckRuns < 2; seed++) {
        const result = await simulate({
          ...smallTeam,
          seed,
          processes,
          faults: often(what, rateOf(what)),
        })
        expect(result.violation, `seed ${seed}`).toBeUndefined()
        const told = result.trace.entries.filter(({ type }) => type === 'fault').map(({ facts }) => facts)
        expect(told).toEqual(result.faults)
        if (result.faults.some((fault) => fault.what === what)) struckRuns++
      }
      expect(struckRuns).toBeGreaterThan(0)
    },
  )

  it('strikes where a list says, and nowhere else', async () => {
    const faults: readonly Fault[] = [
      { what: 'model.rateLimitedFor', at: 'team model 1', ms: 7_000 },
      { what: 'tool.slow', at: 'team/1.2 tool 2', ms: 50_000 },
    ]
    const { faults: struck, trace } = await simulate({ ...smallTeam, faults })
    expect(struck).toEqual(faults)
    const retry = trace.entries.find(({ type }) => type === 'retry-scheduled')
    expect(retry?.facts['failure']).toMatchObject({ kind: 'rate-limited', retryAfterMs: 7_000 })
    const asked = trace.entries.filter(({ label, type }) => label === 'team/1.2' && type === 'tool-called')
    const answered = trace.entries.filter(({ label, type }) => label === 'team/1.2' && type === 'tool-answered')
    expect((answered.at(-1)?.atMs ?? 0) - (asked.at(-1)?.atMs ?? 0)).toBe(50_000)
  })

  it('that does not fit does not strike', async () => {
    const faults = [{ what: 'model.unknownTool', at: 'team model 4' }] as const
    const { faults: struck, world } = await simulate({ ...smallTeam, faults })
    expect(struck).toEqual([])
    expect(world.read(1, LastTurn).stop).toBe('done')
  })

  it('that no probability can have, or that does not exist, is refused by name', async () => {
    const bad = [
      [{ model: { hang: 2 } }, 'model.hang must be a probability from 0 to 1, got 2'],
      [{ model: { hangs: 0.1 } }, "there is no 'model.hangs'. Known: model (rateLimited"],
      [{ modle: { hang: 0.1 } }, "there is no 'modle'"],
      [{ crash: { perTick: -1 } }, 'crash.perTick must be a probability'],
      [[{ what: 'tool.explodes', at: 'team tool 1' }], "there is no 'tool.explodes'"],
      [[{ what: 'tool.throws' }], 'tool.throws needs a place'],
    ] as const
    for (const [faults, message] of bad) {
      await expect(simulate({ ...smallTeam, faults: faults as FaultRates })).rejects.toThrow(message)
    }
  })
})

describe('a simulation on SQLite', () => {
  it('crashes and goes on from real files as it does from memory', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'entia-sim-'))
    try {
      for (let seed = 1; seed <= 5; seed++) {
        const faults = { crash: { perTick: 0.1 }, store: { fails: 0.05, torn: 0.05 } }
        const store = () => sqliteStore({ folder: join(folder, `${seed}`) })
        const onDisk = await simulate({ ...smallTeam, seed, faults, store })
        const inMemory = await simulate({ ...smallTeam, seed, faults })
        expect(onDisk.violation).toBeUndefined()
        expect(onDisk.crashes).toBeGreaterThan(0)
        expect(onDisk.trace.hash, `seed ${seed}`).toBe(inMemory.trace.hash)
        expect(onDisk.world.read(1, Conversation)).toEqual(inMemory.world.read(1, Conversation))
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
