import { describe, expect, it } from 'vitest'
import { type FaultRates, simulate, type SimulateOptions, standardLaws, type Violation } from '../../src/sim/index.ts'
import type { System } from '../../src/world/world.ts'
import { losesLastRow, manglesValues } from './broken-stores.ts'
import * as broken from './broken-systems.ts'
import { allFaults, busyTeam } from './busy-team.ts'

const maxSeeds = 500

interface Mutation {
  readonly what: string
  readonly law: string
  readonly systems?: () => System[]
  readonly faults?: FaultRates
  readonly store?: NonNullable<SimulateOptions['store']>
  /** Another law, which sees the same a tick earlier. */
  readonly before?: string
}

const mutations: readonly Mutation[] = [
  {
    what: 'a settlement that takes every outcome',
    law: 'effects-settle-once',
    systems: broken.takesEveryOutcome,
    faults: { delivery: { duplicated: 0.1 } },
  },
  { what: 'an outcome that is written over', law: 'effects-settle-once', systems: broken.writesOverOutcomes },
  { what: 'a reply that is forgotten', law: 'effects-settle-once', systems: broken.forgetsReplies },
  { what: 'a result that is given twice', law: 'calls-answered-once', systems: broken.answersTwice },
  { what: 'a result that is dropped', law: 'calls-answered-once', systems: broken.dropsResults },
  {
    what: 'a cancelled turn that leaves calls open',
    law: 'calls-answered-once',
    before: 'nothing-waits-in-vain',
    systems: broken.leavesCallsOpen,
    faults: { users: { cancel: 0.1 } },
  },
  { what: 'results in the order in which they come', law: 'conversations-valid', systems: broken.answersAsTheyCome },
  {
    what: 'results behind what was said meanwhile',
    law: 'conversations-valid',
    systems: broken.answersAtTheEnd,
    faults: { users: { message: 0.2 } },
  },
  {
    what: 'a model that is asked before its calls are answered',
    law: 'conversations-valid',
    systems: broken.asksTooEarly,
    faults: { users: { message: 0.2 } },
  },
  {
    what: 'a store that loses the newest tick',
    law: 'restored-equals-saved',
    store: losesLastRow,
    faults: { crash: { perTick: 0.05 } },
  },
  {
    what: 'a store that mangles a value',
    law: 'restored-equals-saved',
    store: manglesValues,
    faults: { crash: { perTick: 0.05 } },
  },
  { what: 'a log that grows past the journal', law: 'journal-equals-world', systems: broken.growsLogsUnseen },
  { what: 'a value that is written past the journal', law: 'journal-equals-world', systems: broken.writesValuesUnseen },
  {
    what: "a 'once' tool that runs again after a crash",
    law: 'once-ran-once',
    before: 'tries-counted',
    systems: broken.runsOnceAgain,
    faults: { crash: { perTick: 0.1 } },
  },
  {
    what: 'tries that are not counted',
    law: 'tries-counted',
    systems: broken.countsNoTry,
    faults: { model: { rateLimited: 0.1 } },
  },
  {
    what: 'ids of inputs that are forgotten in a crash',
    law: 'inputs-taken-once',
    systems: broken.forgetsInputs,
    faults: { crash: { perTick: 0.1 } },
  },
  {
    what: "a 'keyed' tool that runs again as if for the first time",
    law: 'reruns-known',
    systems: broken.forgetsReruns,
    faults: { crash: { perTick: 0.1 } },
  },
  {
    what: 'a try that begins before it is written down',
    law: 'written-ahead',
    systems: broken.triesUnseen,
    faults: { model: { rateLimited: 0.1 } },
  },
  { what: 'a message that is rewritten silently', law: 'prefix-holds', systems: broken.rewritesSilently },
  { what: 'a system prompt that changes silently', law: 'prefix-holds', systems: broken.changesPromptSilently },
]

describe('a mutation', () => {
  it.each(mutations)(
    'of the worlds is found: $what breaks $law',
    async ({ law, systems, faults = {}, store, before }) => {
      const laws = standardLaws.filter(({ name }) => name !== before)
      let violation: Violation | undefined
      let seed = 0
      while (violation === undefined && seed < maxSeeds) {
        seed++
        const options = { ...busyTeam(systems?.()), ...(store && { store }), faults, laws, seed }
        violation = (await simulate(options)).violation
      }
      expect([violation?.law, violation?.message]).toEqual([law, expect.any(String)])
      expect(seed).toBeLessThanOrEqual(maxSeeds)
    },
  )
})

/** `npm run test:sim` takes more. */
const seeds = Number(process.env['SIM_SEEDS'] ?? 25)
const thorough = process.env['SIM_SEEDS'] !== undefined

describe('the unbroken team', () => {
  it(`keeps all laws over ${seeds} seeds with all kinds of faults`, { timeout: 60_000 + 500 * seeds }, async () => {
    const violations: unknown[] = []
    const struck = new Set<string>()
    for (let seed = 1; seed <= seeds; seed++) {
      const { violation, faults } = await simulate({ ...busyTeam(), faults: allFaults, seed, thorough })
      if (violation !== undefined) violations.push({ seed, ...violation })
      for (const { what } of faults) struck.add(what.slice(0, what.indexOf('.')))
    }
    expect(violations).toEqual([])
    const usual = ['latency', 'loop']
    expect([...struck].sort()).toEqual(['crash', 'delivery', ...usual, 'model', 'store', 'tool', 'users'])
  })
})
