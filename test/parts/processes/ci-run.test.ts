import { execFile } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'

/** What a run of tests ends with: the tests by file and name, `true` where they pass; a file without tests cannot be loaded. */
type Ran = Readonly<Record<string, Readonly<Record<string, boolean>>>>

/** Says what it was called with, and writes the results of the next run of tests. */
const npm = `#!${process.execPath}
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')
const words = process.argv.slice(2)
appendFileSync(__dirname + '/asked', JSON.stringify(words) + '\\n')
const output = words.find((word) => word.startsWith('--outputFile.json='))
if (output === undefined) process.exit(0)
const [ran, ...others] = JSON.parse(readFileSync(__dirname + '/runs', 'utf8'))
writeFileSync(__dirname + '/runs', JSON.stringify(others))
const testResults = Object.entries(ran).map(([file, tests]) => {
  const assertionResults = Object.entries(tests).map(([fullName, ok]) => ({ fullName, status: ok ? 'passed' : 'failed' }))
  const isPassed = assertionResults.length > 0 && assertionResults.every(({ status }) => status === 'passed')
  return { name: process.cwd() + '/' + file, status: isPassed ? 'passed' : 'failed', assertionResults }
})
const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
const numPassedTests = tests.filter(({ status }) => status === 'passed').length
writeFileSync(output.split('=')[1], JSON.stringify({ numPassedTests, testResults }))
process.exit(testResults.every(({ status }) => status === 'passed') ? 0 : 1)
`

/** Runs `.ci/run` where `npm` gives these results, one run of tests after the other; what it says, and what it asks for. */
async function ciRun(...runs: readonly Ran[]) {
  const silent = `#!/bin/sh\nexit 0\n`
  const folder = await tempFolder({ npm, bwrap: silent, socat: silent, runs: JSON.stringify(runs), asked: '' })
  await Promise.all(['npm', 'bwrap', 'socat'].map((name) => chmod(join(folder, name), 0o755)))
  const PATH = `${folder}:${join(process.execPath, '..')}:${process.env['PATH']}`
  const env = { ...process.env, PATH, NODE_OPTIONS: '' }
  const { code, said } = await new Promise<{ code: number; said: string }>((resolve) => {
    execFile(join(import.meta.dirname, '../../../.ci/run'), { env }, (error, stdout) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout })
    })
  })
  const flaky = said.split('\n').filter((line) => line.startsWith('flaky: '))
  return { code, flaky, last: said.trim().split('\n').at(-1), said }
}

/** The time limits of a test in CI, from the configuration of vitest, in milliseconds. */
async function limitsInCi(mode: string): Promise<unknown> {
  const program = `const { default: config } = await import('./vitest.config.ts')
    const { hookTimeout, projects, testTimeout } = config({ mode: '${mode}' }).test
    const own = projects.flatMap(({ test }) => test.testTimeout ?? [])
    console.log(JSON.stringify([...new Set([hookTimeout, testTimeout, ...own])]))`
  const { SIM_SEEDS: _, ...others } = process.env
  const env = { ...others, CI: 'true', NODE_OPTIONS: '' }
  const cwd = join(import.meta.dirname, '../../..')
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd, env })
  return JSON.parse(stdout)
}

const fine: Ran = { 'test/fine.test.ts': { fine: true } }

describe('what must hold before a change goes in', () => {
  it('holds where all checks and tests pass', async () => {
    expect(await ciRun(fine, fine)).toMatchObject({ code: 0, flaky: [], last: '10 passed, 0 failed' })
  })

  it('holds where failed files pass once more, alone, and names what was flaky', async () => {
    const { said, ...ran } = await ciRun(
      { 'test/a.test.ts': { one: true, two: false }, 'test/b.test.ts': {}, ...fine },
      { 'test/a.test.ts': { one: true, two: true }, 'test/b.test.ts': { three: true } },
      fine,
    )
    expect(ran).toEqual({ code: 0, flaky: ['flaky: two', 'flaky: test/b.test.ts'], last: '13 passed, 0 failed' })
    expect(said).toMatch(/== once more, alone: \S+\/test\/a\.test\.ts \S+\/test\/b\.test\.ts\n/)
  })

  it('does not hold where one of two fails again', async () => {
    const a = 'test/a.test.ts'
    const { said, ...ran } = await ciRun({ [a]: { one: false, two: false } }, { [a]: { one: true, two: false } }, fine)
    expect(ran).toEqual({ code: 1, flaky: ['flaky: one'], last: '10 passed, 1 failed' })
    expect(said).toContain('== once more, alone: ')
  })

  it('does not hold where a file cannot be loaded twice', async () => {
    const lost: Ran = { 'test/lost.test.ts': {}, ...fine }
    expect(await ciRun(lost, { 'test/lost.test.ts': {} }, fine)).toMatchObject({
      code: 1,
      flaky: [],
      last: '10 passed, 1 failed',
    })
  })
})

describe('a test in CI', () => {
  it.each(['test', 'parts'])('has a minute, as its hooks have, of those that run by --mode %s', async (mode) => {
    expect(await limitsInCi(mode)).toEqual([60_000])
  })
})
