import { EntiaError, memoryStore, replay, Runner, type SavedWorld, standardSystems, World } from 'entia'
import * as components from 'entia/components'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openSnapshot } from '../../src/engine/loop/stored-ticks.ts'
import { sha256 } from '../../src/base/sha256.ts'
import { type Break, breaks, broken, jsonText, type Parsed } from './broken-json.ts'
import { fuzz, fuzzTimeoutMs, outcomeOf } from './cases.ts'
import { storedTeam } from './stored-team.ts'

const team = await storedTeam()
const [recording] = team.worlds as readonly [SavedWorld]
const systems = standardSystems()
/** Of the check that stands before the JSON of each row. */
const checkLength = 16
const rows = recording.rows.map(({ line }) => JSON.parse(line.slice(checkLength + 1)) as Parsed)
const first = JSON.parse(recording.snapshot.lines[0] as string) as Parsed

/** The first rows, with things wrong in them: each hangs on the row before it, as it should. */
function withRows(wrong: readonly Break[], count: number): SavedWorld {
  const forgery = broken(rows.slice(0, count), wrong)
  let { chain } = JSON.parse(recording.snapshot.lines[0] as string) as { chain: string }
  const forged = (Array.isArray(forgery) ? forgery : [forgery]).map((row, index) => {
    const text = jsonText(row)
    chain = sha256(chain + text).slice(0, checkLength)
    return { tick: recording.snapshot.tick + index + 1, line: `${chain} ${text}` }
  })
  return { ...recording, rows: forged }
}

/** The first two lines of a stored snapshot, with things wrong in them. */
function withHead(wrong: readonly Break[]): SavedWorld {
  const [head = '', ...others] = recording.snapshot.lines.slice(1)
  const forgery = broken([first, JSON.parse(head) as Parsed], wrong)
  const forged = (Array.isArray(forgery) ? forgery : [forgery]).map(jsonText)
  return { ...recording, snapshot: { ...recording.snapshot, lines: [...forged, ...others] } }
}

const codes = [
  'corrupt-journal',
  'corrupt-snapshot',
  'invalid-value',
  'newer-version',
  'unknown-component',
  'unknown-entity',
]
const place = /(tick|Tick|line|delta|entity) \d+|component '\w+'|Component '\w+'|snapshot: /
const counts = fc.integer({ min: 1, max: rows.length })

describe('a journal with right checks and a wrong content', () => {
  it('is refused with its place, or makes a world that can be saved', { timeout: fuzzTimeoutMs }, async () => {
    await fuzz(fc.tuple(breaks, counts), async ([wrong, count]) => {
      const forgery = withRows(wrong, count)
      const outcome = await outcomeOf(() => {
        const { codec, lines } = openSnapshot(forgery)
        const deltas = forgery.rows.map(({ tick, line }) => codec.decode(line, `tick ${tick}`).delta)
        return World.restore(lines, { components, deltas })
      })
      if (outcome instanceof EntiaError) return expectRefusal(outcome)
      const again = [...outcome.snapshot()]
      expect([...World.restore(again, { components }).snapshot()]).toEqual(again)
    })
  })

  it('is opened by no Runner in another way than that', { timeout: fuzzTimeoutMs }, async () => {
    await fuzz(fc.tuple(breaks, counts), async ([wrong, count]) => {
      const { snapshot, rows: forged } = withRows(wrong, count)
      const store = memoryStore()
      const journal = await store.open('team')
      await journal.commit({ snapshot, rows: forged })
      await journal.close()
      const outcome = await outcomeOf(() => Runner.open({ store, name: 'team', systems, components }))
      if (outcome instanceof EntiaError) return expectRefusal(outcome)
      expect(outcome.world.name).toBe('team')
      await outcome.stop()
    })
  })

  it('is replayed up to what is wrong in it', { timeout: fuzzTimeoutMs }, async () => {
    await fuzz(fc.tuple(breaks, counts), async ([wrong, count]) => {
      const outcome = await outcomeOf(() =>
        replay({ ...team, worlds: [withRows(wrong, count)] }, { systems, components }),
      )
      const code = outcome instanceof EntiaError ? outcome.code : 'system-failed'
      expect([...codes, 'invalid-input', 'system-failed']).toContain(code)
    })
  })
})

describe('a stored snapshot', () => {
  it('that begins in another way than one does is refused with its place', { timeout: fuzzTimeoutMs }, async () => {
    await fuzz(breaks, async (wrong) => {
      const outcome = await outcomeOf(() => openSnapshot(withHead(wrong)))
      if (outcome instanceof EntiaError) return expectRefusal(outcome)
      expect(outcome.head.header.tick).toBeGreaterThanOrEqual(0)
    })
  })
})

function expectRefusal({ code, message }: EntiaError): void {
  expect(codes).toContain(code)
  expect(message).toMatch(place)
}
