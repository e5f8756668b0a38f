import { EntiaError } from 'entia'
import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { brokenArguments, hostile, type Wrong, wrongs } from './broken-options.ts'
import { fuzz, fuzzTimeoutMs, outcomeOf } from './cases.ts'
import { calls, type Door, makers, providers, runners, simulations, writes } from './doors.ts'
import { matrix } from './matrix-doors.ts'
import { runtime } from './runtime-doors.ts'

type Doors = Readonly<Record<string, Door>>

/** A simulation takes as long as many a case of the others. */
const simulationsPerCase = 1 / 20

beforeAll(() => {
  // No provider without a `fetch` of its own reaches anything.
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')))
})

/** What comes of a door with broken arguments: it does its work, or says with which code it refuses them. */
async function outcomeAt(doors: Doors, name: string, wrong: readonly Wrong[]): Promise<string> {
  const { args, use, hasOwnSystem = false } = doors[name] as Door
  const given = brokenArguments(args(), wrong)
  const outcome = await outcomeOf(async () => use(...(given as never[]))).catch(unlessHostile)
  return outcome instanceof EntiaError && !hasOwnSystem ? outcome.code : 'done'
}

/** An error of the program's own getter may pass through. */
function unlessHostile(error: unknown): void {
  if (error !== hostile) throw error
}

describe('options and arguments', () => {
  const groups: readonly Doors[] = [makers, providers, runners, calls, writes, runtime, matrix, simulations]
  it.each(groups.flatMap((doors) => Object.entries(doors)))(
    'of %s are right before they are broken',
    async (_, door) => {
      const outcome = await outcomeOf(async () => door.use(...(door.args() as never[])))
      expect(outcome).not.toBeInstanceOf(EntiaError)
    },
  )

  it.each([
    ['what makes things', makers, 1],
    ['providers', providers, 1],
    ['what runs a world', runners, 1],
    ['calls of a Runner', calls, 1],
    ['writes to a world', writes, 1],
    ['what entia/runtime gives', runtime, 1],
    ['what entia/matrix gives', matrix, 1],
    ['simulations', simulations, simulationsPerCase],
  ] as const)('of %s are taken or refused', { timeout: fuzzTimeoutMs }, async (_, doors: Doors, portion) => {
    await fuzz(
      fc.tuple(fc.constantFrom(...Object.keys(doors)), wrongs),
      // What a system trips over was let in before.
      async ([name, wrong]) => expect(await outcomeAt(doors, name, wrong)).not.toBe('system-failed'),
      portion,
    )
  })
})
