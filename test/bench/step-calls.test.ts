import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { isWithin, type Row } from '../../bench/row.ts'

const main = join(import.meta.dirname, '../../bench/main.ts')
const advice =
  'See which functions are called more: `npm run bench:calls`, before your change and after it. What a step needs may raise the limit in bench/step-calls.ts.'

it('a step calls no more functions than it did', async () => {
  const options = ['--here', '--json', '--only', 'step-calls']
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=entia-source', main, ...options])
  const rows = JSON.parse(stdout) as Row[]
  expect(rows).toHaveLength(2)
  for (const row of rows) {
    const { name, value, limit } = row
    expect(isWithin(row), `${name}: ${value.toFixed(0)}, at most ${limit}. ${advice}`).toBe(true)
    // A limit far above what is there would hold nothing: calls that were saved lower it.
    expect(value, `${name}: lower the limit ${limit} in bench/step-calls.ts`).toBeGreaterThan(0.9 * (limit ?? Infinity))
  }
})
