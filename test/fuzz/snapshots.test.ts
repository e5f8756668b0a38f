import { EntiaError, type SavedWorld, standardSystems, World } from 'entia'
import { tick } from 'entia/systems'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { openSnapshot } from '../../src/engine/loop/stored-ticks.ts'
import { sha256 } from '../../src/base/sha256.ts'
import { type Break, breaks, broken, jsonText, type Parsed } from './broken-json.ts'
import { fuzz, fuzzTimeoutMs, outcomeOf } from './cases.ts'
import { storedTeam } from './stored-team.ts'

const [recording] = (await storedTeam()).worlds as readonly [SavedWorld]
const { codec, lines } = openSnapshot(recording)
const steps = recording.rows.map(({ line }) => codec.decode(line, 'a row'))

/** The team in the midst of its work: calls and sessions are under way. */
function midway(): string[] {
  const deltas = steps.slice(0, Math.floor(steps.length / 2)).map(({ delta }) => delta)
  return [...World.restore(lines, { components, deltas }).snapshot()]
}

const saved = midway()
const parsed = saved.slice(0, -1).map((line) => JSON.parse(line) as Parsed)

/** Lines with these things wrong, and an end that is right: what a fault behind the checksum would write. */
function forged(wrong: readonly Break[]): string[] {
  const forgery = broken(parsed, wrong)
  const content = Array.isArray(forgery) ? forgery.map(jsonText) : [jsonText(forgery)]
  const hash = sha256(content.map((line) => `${line}\n`).join(''))
  return [...content, JSON.stringify({ end: { lines: content.length, sha256: hash } })]
}

const codes = ['corrupt-snapshot', 'invalid-value', 'newer-version', 'not-json', 'unknown-component', 'unknown-entity']
const place = /snapshot line \d+|snapshot: |entity \d+|component '\w+'|Component '\w+'/

describe('a snapshot with a right checksum and a wrong content', () => {
  it('is refused with its place, or makes a world that can be saved', { timeout: fuzzTimeoutMs }, async () => {
    await fuzz(breaks, async (wrong) => {
      const outcome = await outcomeOf(() => World.restore(forged(wrong), { components }))
      if (outcome instanceof EntiaError) return expectRefusal(outcome)
      const again = [...outcome.snapshot()]
      expect([...World.restore(again, { components }).snapshot()]).toEqual(again)
    })
  })

  it(
    'that makes a world leaves it to its systems, which end in no other error',
    { timeout: fuzzTimeoutMs },
    async () => {
      await fuzz(breaks, async (wrong) => {
        const world = await outcomeOf(() => World.restore(forged(wrong), { components, systems: standardSystems() }))
        if (world instanceof EntiaError) return
        const outcome = await outcomeOf(() => tick(world))
        expect(outcome instanceof EntiaError ? outcome.code : 'system-failed').toBe('system-failed')
      })
    },
  )
})

function expectRefusal({ code, message }: EntiaError): void {
  expect(codes).toContain(code)
  expect(message).toMatch(place)
}
