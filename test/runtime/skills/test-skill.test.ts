import { join } from 'node:path'
import { testSkill } from 'entia/runtime'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { skillText } from './skills-on-disk.ts'

const using = (...lines: readonly string[]): string =>
  ["import { describe, test } from 'node:test'", ...lines].join('\n')

describe('the tests of a skill', () => {
  it('are none, where there is no file of tests', async () => {
    const folder = await tempFolder({ 'SKILL.md': skillText('pdf'), 'node_modules/x/x.test.js': 'process.exit(1)' })
    expect(await testSkill(folder)).toEqual({ passed: 0, failed: 0, errors: 0 })
  })

  it('pass, fail, or cannot be run to their end, whatever they print', async () => {
    const folder = await tempFolder({
      'a.test.mjs': using(
        "test('passes', () => {})",
        "test('fails', () => { throw new Error('no') })",
        "describe('both', () => { test('passes too', () => {}); test.skip('is skipped'); test.todo('is to be') })",
        "console.log('# pass 99')",
        `console.log(${JSON.stringify('{"type":"test:pass","name":"x","isLeftOut":false}')})`,
      ),
      'b.test.mjs': "import './missing.js'",
      'deep/c.test.mjs': using("test('passes', () => {})", "setTimeout(() => { throw new Error('late') }, 20)"),
      'd.test.mjs': 'this is no program',
      ...(process.features.typescript !== false && {
        'e.test.ts': using("const name: string = 'in TypeScript'", 'test(name, () => {})'),
      }),
    })
    const passed = process.features.typescript === false ? 3 : 4
    expect(await testSkill(folder)).toEqual({ passed, failed: 1, errors: 3 })
  })

  it('are shown on stderr as they come, where that is wanted', async () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => write.mockRestore())
    const folder = await tempFolder({
      'a.test.mjs': using(
        "test('passes', () => { console.log('printed\\u001b[2J') })",
        "test('fails', () => { throw new Error('because') })",
      ),
    })
    expect(await testSkill(folder, { verbose: true })).toEqual({ passed: 1, failed: 1, errors: 0 })
    const shown = write.mock.calls.map(([text]) => String(text)).join('')
    for (const part of ['✓ passes\n', 'printed\n', '✗ fails: because\n']) expect(shown).toContain(part)
    expect(shown).not.toContain('\u001b')
  })

  it('see neither secrets nor a runner of tests around them, unless they are passed on, and run in the folder', async () => {
    const folder = await tempFolder({
      'a.test.mjs': using(
        `test('folder', () => { if (process.cwd() !== import.meta.dirname) throw new Error('elsewhere') })`,
        "test('secret', () => { if (process.env.SOME_API_KEY) throw new Error('a secret') })",
        "test('plain', () => { if (process.env.PLAIN !== 'yes') throw new Error('no variable') })",
      ),
    })
    const env = { PATH: process.env['PATH'], SOME_API_KEY: 'x', PLAIN: 'yes', NODE_TEST_CONTEXT: 'child-v8' }
    expect(await testSkill(folder, { env })).toEqual({ passed: 3, failed: 0, errors: 0 })
    expect(await testSkill(folder, { env, passEnv: ['SOME_API_KEY'] })).toEqual({ passed: 2, failed: 1, errors: 0 })
  })

  it('that do not end are ended, and count as errors', async () => {
    const folder = await tempFolder({
      'a.test.mjs': using("test('waits', () => new Promise(() => setInterval(() => {}, 1_000)))"),
    })
    const { errors, passed } = await testSkill(folder, { timeoutMs: 300 })
    expect({ errors, passed }).toEqual({ errors: 1, passed: 0 })
  })

  it('need a folder that is there', async () => {
    const folder = await tempFolder()
    await expect(testSkill(join(folder, 'pdf'))).rejects.toMatchObject({ code: 'skill-not-found' })
    await expect(testSkill(folder, { timeoutMs: 0 })).rejects.toMatchObject({ code: 'invalid-argument' })
  })
})
