import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isWithin, readable } from '../bench/row.ts'
import { table } from '../bench/table.ts'

const main = join(import.meta.dirname, '../bench/main.ts')
const bench = (...options: readonly string[]) =>
  promisify(execFile)(process.execPath, ['--conditions=source', main, ...options])

const Row = z.strictObject({
  name: z.string().min(1),
  value: z.number(),
  unit: z.string(),
  limit: z.number().optional(),
  atLeast: z.boolean().optional(),
  against: z.string().optional(),
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
