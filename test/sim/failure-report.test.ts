import { runInThisContext } from 'node:vm'
import { Conversation, LastTurn } from 'entia'
import { describe, expect, it } from 'vitest'
import {
  assertLawful,
  law,
  reportOf,
  simulate,
  type SimulateOptions,
  type SimulationResult,
  sweep,
} from '../../src/sim/index.ts'
import { hastyShop } from './hasty-shop.ts'
import { smallTeam } from './small-team.ts'

/** The options of a run, as a program that pastes a test has them at hand. */
function optionsOf(restart: 'pure' | 'once') {
  const { seeds: _seeds, faults: _faults, ...options } = hastyShop(restart)
  return options
}

/** What stands in a report to be pasted. */
function pastedTestOf(report: string): string {
  const text = report.split('A test to paste\n\n')[1]
  if (text === undefined) throw new Error('There is no test in it.')
  return text
}

/** Runs a test that was pasted, with one's own options put in, and gives the run that it made. */
async function runPasted(text: string, own: object): Promise<{ result: SimulationResult; error: unknown }> {
  const program = text.replaceAll(/^import .*\n/gm, '').replace(/\/\/ Here go your own options: .*/, '...own,')
  expect(program).toContain('...own,')
  let result: SimulationResult | undefined
  let error: unknown
  const tests: Promise<void>[] = []
  const parts = {
    own,
    expect,
    it: (_name: string, test: () => Promise<void>) => tests.push(test()),
    simulate: async (options: SimulateOptions) => {
      result = await simulate(options)
      return result
    },
  }
  const evaluated = runInThisContext(`(({ own, expect, it, simulate }) => {${program}})`) as (
    given: typeof parts,
  ) => void
  evaluated(parts)
  await Promise.all(tests).catch((thrown: unknown) => {
    error = thrown
  })
  if (result === undefined) throw new Error('It has run nothing.')
  return { result, error }
}

const hasty = await sweep(hastyShop())
const report = reportOf(hasty)

describe('the report of a broken law', () => {
  it('says which law, under which seed, where and when, and what was found', () => {
    const { seed, violation } = hasty.failure?.result ?? {}
    const lines = report.split('\n')
    expect(lines[0]).toBe('A law was broken: no order is placed twice')
    expect(lines[1]).toBe(`  seed   ${seed}`)
    expect(lines[2]).toMatch(new RegExp(`^  where  world shop, tick ${violation?.tick}, at [\\d,]+ ms of world time$`))
    expect(lines[3]).toMatch(/^ {2}found {2}the shop has got "\w+ \(.+\)" twice$/)
  })

  it('shows what was said last', async () => {
    const tooLong = law(
      'an agent says no more than eight things',
      ({ world }) => world.read(1, Conversation).length < 9,
    )
    const run = await simulate({ ...optionsOf('once'), laws: [tooLong] })
    const shown = reportOf(run).split('\n\n')[1]?.split('\n')
    expect(shown).toEqual([
      'Last messages in world shop',
      '  agent 1, after 3 other messages',
      '    assistant  calls order({"item":"milk"})',
      '    tool       order: order 2',
      '    assistant  calls order({"item":"bread"})',
      '    tool       order: order 3',
      '    assistant  calls order({"item":"salt"})',
      '    tool       order: order 4',
    ])
  })

  it('lists the faults in order, and those that are enough', () => {
    const { result, shrunk } = hasty.failure ?? {}
    for (const [index, { what, at }] of (result?.faults ?? []).entries()) {
      expect(report).toMatch(new RegExp(`^ +${index + 1}\\. ${what} +at ${at}(, [\\d,]+ ms)?$`, 'm'))
    }
    expect(report).toContain(`in ${shrunk?.runs} runs`)
  })

  it('says of one fault, and of several, how many it takes', async () => {
    const slow = (world: string) => ({ what: 'tool.slow', at: `${world} tool 1`, ms: 5_000 }) as const
    const hang = { what: 'model.hang', at: 'team model 1' } as const
    const ends = law('the letter is sent', {
      finished: ({ worlds }) => worlds.get('team')?.world.read(1, LastTurn).stop === 'done',
    })
    const saidOf = async (laws: SimulateOptions['laws'], faults: SimulateOptions['faults'] & {}) =>
      reportOf(await sweep({ ...smallTeam, laws: laws ?? [], faults, seeds: 1 })).split('\n')
    const never = [law('nothing is allowed', { finished: () => false })]
    const lines = await Promise.all([
      saidOf(never, []),
      saidOf(never, [slow('team')]),
      saidOf([ends], [hang]),
      saidOf(never, [slow('team'), slow('team/1.1')]),
    ])
    expect(lines.map((each) => each.find((line) => line.includes(': found in'))?.split(/,|:/)[0])).toEqual([
      'It needs no fault',
      'It does not need this one',
      'It cannot be left out',
      'It needs none of these 2',
    ])
  })

  it('fits a screen', async () => {
    const long = law('a law with a good deal to say', () => 'there is much to be said of it, '.repeat(40))
    const talks = await simulate({ ...smallTeam, laws: [long] })
    for (const text of [report, reportOf(talks)]) {
      for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100)
    }
  })

  it('shows the last of many faults, and of a long result its beginning', async () => {
    const never = law('a run has no end', { finished: () => false })
    const faults = {
      tool: { oversized: 1 },
      model: { overloaded: 0.5 },
      delivery: { late: 1 },
      crash: { perTick: 0.4 },
    }
    const run = await simulate({ ...optionsOf('once'), laws: [never], faults })
    expect(run.faults.length).toBeGreaterThan(30)
    const text = reportOf(run)
    expect(text).toContain(`  … ${run.faults.length - 30} before these`)
    const last = run.faults.at(-1)
    expect(text).toContain(` ${run.faults.length}. ${last?.what}`)
    expect(text).toContain('order: xxxxxxxxxx')
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100)
  })

  it('says of a lawful run that no law was broken', async () => {
    expect(reportOf(await simulate({ ...smallTeam, laws: [] }))).toBe('Seed 1: no law was broken.')
    expect(reportOf(await sweep({ ...smallTeam, laws: [], seeds: 2 }))).toBe('No law was broken in 2 runs.')
  })

  it('is what a test fails with', async () => {
    const broken = await simulate({ ...smallTeam, laws: [law('nothing is allowed', () => false)] })
    expect(() => assertLawful(broken)).toThrow(
      expect.objectContaining({ name: 'EntiaError', code: 'law-broken', message: reportOf(broken) }),
    )
    assertLawful(await simulate({ ...smallTeam, laws: [] }))
  })
})

describe('the test to paste', () => {
  it('breaks the law as the shrunk case does, and holds once the mistake is mended', async () => {
    const text = pastedTestOf(report)
    const { result, error } = await runPasted(text, optionsOf('pure'))
    const shrunk = hasty.failure?.shrunk
    expect(error).toBeInstanceOf(Error)
    expect(result.violation).toEqual(shrunk?.result.violation)
    expect(result.faults).toEqual(shrunk?.faults)
    expect(result.trace.hash).toBe(shrunk?.result.trace.hash)
    const mended = await runPasted(text, optionsOf('once'))
    expect(mended).toMatchObject({ error: undefined, result: { ok: true } })
  })

  it('names the options that were given, apart from those that it has itself', () => {
    const text = pastedTestOf(report)
    expect(text).toMatch(/^import { simulate } from 'entia\/sim'\nimport { expect, it } from 'vitest'\n\nit\(/)
    expect(text).toContain('// Here go your own options: services, tools, models, world, laws.')
    expect(text).toContain(`    seed: ${hasty.failure?.result.seed},\n`)
  })

  it('makes a run again that was not made smaller', async () => {
    const { failure } = await sweep({ ...hastyShop(), shrink: false })
    const { result } = await runPasted(pastedTestOf(failure?.report ?? ''), optionsOf('pure'))
    expect(result.trace.hash).toBe(failure?.result.trace.hash)
  })

  it('holds how long a fault lasts', async () => {
    const laws = [law('a run has no end', { finished: () => false })]
    const faults = [{ what: 'tool.slow', at: 'shop tool 1', ms: 7 }] as const
    const run = await simulate({ ...optionsOf('once'), laws, faults })
    const { result } = await runPasted(pastedTestOf(reportOf(run)), { ...optionsOf('once'), laws })
    expect(result.faults).toEqual(faults)
  })

  it('holds names with quotes and lines in them', async () => {
    const name = `the "law" of O'Hara\n\\ and others, which is a law with a very long name indeed`
    const laws = [law(name, { finished: () => false })]
    const run = await simulate({ ...optionsOf('once'), laws })
    const { result } = await runPasted(pastedTestOf(reportOf(run)), { ...optionsOf('once'), laws })
    expect(result.violation?.law).toBe(name)
  })
})
