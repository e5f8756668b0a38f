import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { figuresOf, markdown } from '../../../bench/peers/report.ts'
import { measure } from '../../../bench/peers/scenarios.ts'
import { answer, nextMove, type Peer } from '../../../bench/peers/work.ts'
import { isWithin, readable } from '../../../bench/row.ts'
import { table } from '../../../bench/table.ts'

const main = join(import.meta.dirname, '../../../bench/main.ts')
const bench = (...options: readonly string[]) =>
  promisify(execFile)(process.execPath, ['--conditions=entia-source', main, ...options])

const besidePeers = (...options: readonly string[]) =>
  promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../../bench/peers/main.ts'), ...options])

const Row = z.strictObject({
  name: z.string().min(1),
  value: z.number(),
  unit: z.string(),
  limit: z.number().optional(),
  atLeast: z.boolean().optional(),
  against: z.string().optional(),
})

const Peers = z.looseObject({
  figures: z.array(
    z.looseObject({ scenario: z.string(), peer: z.string(), rounds: z.array(z.number()), micros: z.number() }),
  ),
})

describe('the benchmark', () => {
  it('prints one JSON array of rows and nothing else on standard output', { timeout: 60_000 }, async () => {
    const { stdout } = await bench('--json', '--only', 'memory')
    const rows = z.array(Row).parse(JSON.parse(stdout))
    expect(rows.map(({ unit, limit }) => ({ unit, limit }))).toEqual([
      { unit: 'kB', limit: 10 },
      { unit: 'B', limit: 1_536 },
    ])
    expect(rows.every(({ value }) => value > 0)).toBe(true)
  })

  it('that is asked for a subject that there is not names those that there are', async () => {
    const asked = bench('--json', '--only', 'nothing')
    await expect(asked).rejects.toMatchObject({ code: 1, stdout: '[]\n', stderr: expect.stringContaining('snapshot') })
  })
})

describe('the benchmark beside other frameworks', () => {
  it('measures each peer in process and over HTTP, and prints one JSON object', { timeout: 60_000 }, async () => {
    const few = ['--peers', 'entia,bare-sdk', '--rounds', '1', '--runs', '2', '--json']
    const { stdout } = await besidePeers('steps-2', 'http-in-turn', ...few)
    const { figures } = Peers.parse(JSON.parse(stdout))
    expect(figures.map(({ scenario, peer }) => `${scenario} ${peer}`)).toEqual([
      'steps-2 entia',
      'http-in-turn entia',
      'http-in-turn bare-sdk',
    ])
    expect(figures.every(({ micros, rounds }) => micros > 0 && rounds[0] === micros)).toBe(true)
  })

  it('that is asked for a scenario that there is not names those that there are', async () => {
    const stderr = expect.stringContaining("There is no scenario 'nothing'. There are steps-2, steps-51")
    await expect(besidePeers('nothing')).rejects.toMatchObject({ code: 1, stderr })
  })

  it('fails where a run ends with another answer than that of its work', async () => {
    const scenario = { title: 'A run', work: { toolCalls: 2, latencyMs: 0 }, runs: 1, warmUp: 0 }
    const endsWith = (text: string): Peer => ({ open: () => async () => text })
    await expect(measure(endsWith(answer(2)), scenario, undefined)).resolves.toBeGreaterThan(0)
    await expect(measure(endsWith(answer(1)), scenario, undefined)).rejects.toThrow(
      `A run must end with '${answer(2)}', got '${answer(1)}'.`,
    )
  })

  it('has a model that answers once it has read the result of its last call', () => {
    expect([undefined, '1', '2'].map((result) => nextMove(result, 2))).toEqual([
      { a: 0, b: 1 },
      { a: 1, b: 1 },
      answer(2),
    ])
  })

  it('compares peers round by round', () => {
    const http = [
      ['entia', [300, 600]],
      ['bare-sdk', [100, 500]],
    ] as const
    const samples = new Map([
      ['http-in-turn', new Map(http.map(([peer, rounds]) => [peer, [...rounds]]))],
      ['steps-2', new Map([['entia', [10, 12]]])],
    ])
    const row = 'Runs over HTTP, one after another: a run'
    expect(markdown(figuresOf(samples)).split('\n')).toEqual([
      '| CPU of | Entia | bare loop on `openai` |',
      '| --- | ---: | ---: |',
      `| ${row} | 450 µs | 300 µs (0.583 ×) |`,
      '| … over the bare loop on `openai` | +150 µs | — |',
      '| A run of 2 model calls, in process: a model call | 11 µs | — |',
    ])
  })
})

describe('a row', () => {
  const row = { name: 'a step', value: 12, unit: 'µs' }

  it('keeps a limit that it reaches, and does not keep one that it passes', () => {
    expect([12, 11].map((limit) => isWithin({ ...row, limit }))).toEqual([true, false])
    expect([12, 13].map((limit) => isWithin({ ...row, limit, atLeast: true }))).toEqual([true, false])
    expect(isWithin(row)).toBeUndefined()
  })

  it('stands in the table with its limit, verdict and what it was measured against, in columns', () => {
    const rows = [
      { ...row, limit: 15, against: 'bare loop 2 µs' },
      { ...row, name: 'a longer name', value: 1_234, limit: 4 },
    ]
    expect(stripVTControlCharacters(table([...rows, row]))).toBe(
      [
        'figure         value  unit  limit        against',
        'a step            12  µs     ≤ 15  ok    bare loop 2 µs',
        'a longer name  1,234  µs      ≤ 4  over',
        'a step            12  µs',
      ].join('\n'),
    )
  })

  it('shows three digits that count', () => {
    expect([0, 0.0456, 1.234, 12.34, 123.4, 12_345.6].map(readable)).toEqual([
      '0',
      '0.046',
      '1.23',
      '12.3',
      '123',
      '12,346',
    ])
  })
})
