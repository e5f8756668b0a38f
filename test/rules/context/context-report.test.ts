import { agent, Conversation, standardSystems, user, World } from 'entia'
import { Ceilings, Context, contextReport, type ContextStats, contextStats } from 'entia/context'
import * as components from 'entia/components'
import { Archive, Boundary, LastCall, Ledger, ModelCall, ModelRates, OwnedBy, UncountedCalls } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { ageText } from '../../../src/rules/context/context-report.ts'
import { countCalls } from '../../../systems/money/count-calls.ts'

const usd = 1e9
const boundary = { missingHeadings: [], truncated: false, usage: {}, by: 'auto' as const }

/** A world with one agent that has a `Context` and has done nothing. */
function fresh() {
  const world = new World({ systems: standardSystems() })
  return { world, worker: world.spawn(...agent({ model: 'google/gemini-2.5-pro' }), Context({})) }
}

/** The world of the example that the report's form is taken from. */
function busy() {
  const { world, worker } = fresh()
  world.set(worker, LastCall, { contextWindow: 1_000_000, model: 'google/gemini-3-pro', promptTokens: 412_000 })
  world.add(
    worker,
    Boundary([
      { ...boundary, kind: 'summary', seq: 4, text: 'a'.repeat(8_000), focus: 'auth module', atMs: 48_000 },
      {
        ...boundary,
        kind: 'checkpoint',
        seq: 9,
        text: 'b'.repeat(420),
        note: 'surveyed the message kinds',
        atMs: 249_000,
      },
    ]),
  )
  world.add(
    worker,
    Ledger({
      models: {
        'google/gemini-2.5-flash': { calls: 2, input: 16_000, cacheRead: 520, output: 206, costNanoUsd: 0.0055 * usd },
        'google/gemini-2.5-pro': { calls: 5, input: 30_822, output: 558, costNanoUsd: 0.0683 * usd },
      },
      sessionNanoUsd: 0.0738 * usd,
      turnNanoUsd: 0,
    }),
  )
  const turn = { reason: 'tool_calls' as const, status: 'archived' as const, subagentId: 's', task: 'Archive: a' }
  world.add(worker, Archive([{ ...turn, atMs: 1, fromSeq: 1, toSeq: 4 }]))
  return { world, worker }
}

describe('the report of an agent', () => {
  it('has a row for each mechanism, and one for each model', () => {
    const { world, worker } = busy()
    expect(contextReport(contextStats(world, worker), 300_000)).toBe(
      `Context-management activity:
  Compactions: 1 (last 4m12s ago, focus: auth module)
  Checkpoints: 1 (last 51s ago, note: surveyed the message kinds)
  Summarized: 8420 chars across all boundaries
  Subtasks: none yet
  Archived: 1 turn (0 waiting, 0 failed)
  Window: 412000 of 1000000 tokens (41%), compacts at 85% (tier)
  Models: gemini-2.5-pro (5 calls, 30822 in / 558 out, $0.0683)
        + gemini-2.5-flash (2 calls, 16520 in / 206 out, $0.0055)`,
    )
  })

  it('is short for one that has done nothing', () => {
    const { world, worker } = fresh()
    expect(contextReport(contextStats(world, worker), 0)).toBe(
      `Context-management activity:
  Compactions: none yet
  Checkpoints: none yet
  Subtasks: none yet
  Window: not known yet for gemini-2.5-pro, compacts at 65% (tier), no call yet`,
    )
  })

  it('says that a window is not known', () => {
    const { world, worker } = fresh()
    world.set(worker, LastCall, { model: 'ollama/qwen3', promptTokens: 999_999 })
    const { window } = contextStats(world, worker)
    expect(window).toMatchObject({ automatic: false, reason: 'unknown-window' })
    expect(contextReport(contextStats(world, worker), 0)).toContain(
      'Window: unknown for qwen3, no automatic compaction',
    )
  })

  it('tells no models where there was one', () => {
    const { world, worker } = fresh()
    world.add(worker, Ledger({ models: { 'a/b': { calls: 1 } }, sessionNanoUsd: 0, turnNanoUsd: 0 }))
    expect(contextStats(world, worker).modelBreakdown).toBeUndefined()
  })

  it('says "at least" where a call had no price, and nothing of money where none had', () => {
    const { world, worker } = fresh()
    const models = { 'a/b': { calls: 2, costNanoUsd: usd, unpriced: 1 }, 'a/c': { calls: 1, unpriced: 1 } }
    world.add(worker, Ledger({ models, sessionNanoUsd: usd, turnNanoUsd: 0 }))
    const report = contextReport(contextStats(world, worker), 0)
    expect(report).toContain('Models: b (2 calls, 0 in / 0 out, at least $1.0000)')
    expect(report).toContain('        + c (1 call, 0 in / 0 out, no price)')
  })

  it('counts what calls in flight reserve as their ceilings do: by all calls that the agent has made', () => {
    const { world, worker } = fresh()
    const model = 'google/gemini-2.5-pro'
    const rates = { isPriced: true as const, inputNanoUsdPerMillion: 1e9, outputNanoUsdPerMillion: 1e9 }
    world.spawn(ModelRates({ models: { [model]: rates } }))
    world.add(worker, Ceilings({ maxSessionCostUsd: 9 }))
    world.append(worker, Conversation, user('word '.repeat(2_000)))
    world.spawn(ModelCall({ messages: 1 }), OwnedBy({ agent: worker }))
    world.add(worker, UncountedCalls([{ messages: 1, model, promptTokens: 6_000 }]))
    const shown = contextStats(world, worker).cost.reservedUsd
    countCalls(world, worker)
    expect(world.has(worker, UncountedCalls)).toBe(false)
    expect(contextStats(world, worker).cost.reservedUsd).toBe(shown)
  })

  it('cuts long notes', () => {
    const { world, worker } = fresh()
    const entry = { ...boundary, kind: 'checkpoint' as const, seq: 1, text: 'x', note: 'n'.repeat(81), atMs: 0 }
    world.add(worker, Boundary([entry]))
    expect(contextReport(contextStats(world, worker), 0)).toContain(`note: ${'n'.repeat(77)}...)`)
  })

  it('is the same after a restore', () => {
    const { world, worker } = busy()
    const again = World.restore([...world.snapshot()], { systems: standardSystems(), components })
    expect(contextStats(again, worker)).toEqual(contextStats(world, worker))
  })
})

it.each([
  [0, '0s'],
  [51_900, '51s'],
  [252_000, '4m12s'],
  [7_500_000, '2h05m'],
  [-5, '0s'],
])('%d ms ago are %s', (ageMs, text) => {
  expect(ageText(ageMs)).toBe(text)
})

it('the parts of the stats are those of the report', () => {
  const { world, worker } = fresh()
  const stats: ContextStats = contextStats(world, worker)
  expect(stats).toMatchObject({ compactionCount: 0, checkpointCount: 0, watchdog: { mode: 'warn', alerts: 0 } })
})
