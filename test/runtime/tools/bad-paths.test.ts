import { execFileSync } from 'node:child_process'
import { stat, symlink, truncate } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import type { Json } from 'entia'
import { FileTimes } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { absolute } from '../../../src/rules/policy/paths.ts'
import { RealPaths } from '../../../src/runtime/policy/real-paths.ts'
import { WholeDisk } from '../../../src/runtime/tools/whole-disk.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { toolsIn } from './tools-in.ts'

/** Arguments of all tools that take a path. */
const callsWith = (path: string): readonly (readonly [tool: string, input: Readonly<Record<string, Json>>])[] => [
  ['read_file', { path }],
  ['write_file', { path, content: 'x' }],
  ['replace_in_file', { path, old: 'a', new: 'b' }],
  ['list_files', { path }],
  ['grep_files', { path, pattern: 'a' }],
  ['git_status', { path }],
  ['git_diff', { file: path }],
  ['git_log', { file: path }],
]

describe('each tool that takes a path', () => {
  it.each([
    ['10,000 characters', 'x'.repeat(10_000), /is too long for a path\.$/],
    ['5,000 folders', 'x/'.repeat(5_000), /is too long for a path\.$/],
    ['a NUL character', 'a\0b', /holds a NUL character\.$/],
  ])('refuses one of %s', async (_, path, refusal) => {
    const call = toolsIn(await tempFolder())
    for (const [tool, input] of callsWith(path)) {
      const text = await call(tool, input)
      expect(text, tool).toMatch(refusal)
      expect(text.length, tool).toBeLessThan(400)
    }
  })

  it('refuses a pipe and a device, and does not wait for them', async () => {
    const folder = await tempFolder()
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const call = toolsIn(folder)
    for (const path of ['pipe', '/dev/zero', '/dev/null']) {
      for (const [tool, input] of callsWith(path).slice(0, 5))
        expect(await call(tool, input), `${tool} ${path}`).toMatch(/is (no regular file|a file, not a folder)\.$/)
    }
  })

  it('reads no more than it has to of a file of 10 GB', async () => {
    const folder = await tempFolder({ 'huge.txt': '' })
    await truncate(join(folder, 'huge.txt'), 10_000_000_000)
    const call = toolsIn(folder)
    expect(await call('read_file', { path: 'huge.txt' })).toBe('Error: huge.txt is a binary file.')
    expect(await call('grep_files', { path: 'huge.txt', pattern: 'x' })).toBe('Error: huge.txt is a binary file.')
    expect(await call('grep_files', { pattern: 'x' })).toBe('[no matches]')
    expect(await call('replace_in_file', { path: 'huge.txt', old: 'a', new: 'b' })).toMatch(/is larger than 64 MB\.$/)
    expect(await call('write_file', { path: 'huge.txt', content: 'x' })).toMatch(/replaced/)
    expect((await stat(join(folder, 'huge.txt'))).size).toBe(1)
  })

  it('refuses a file below a folder in which nothing can be made, and does not try for ever', async () => {
    const call = toolsIn(await tempFolder())
    expect(await call('write_file', { path: '/proc/none/below/a.txt', content: 'x' })).toMatch(/^Error: \/proc\/none/)
  })
})

describe('what a tool opens', () => {
  it('is what a policy judges, however the path is written', async () => {
    const home = await tempFolder({ 'app/sub/a': '', 'other/b': '', '.ssh/config': '' })
    const cwd = join(home, 'app')
    await symlink(join(home, 'other'), join(cwd, 'l'))
    const disk = new WholeDisk({ cwd, home, fileTimes: new FileTimes() })
    for (const path of [
      ...['a', '.', '~', '~/', '~/.ssh/config', '~//x', '~ada/x', '~+/x', ' ~/x', '~\\x', '~\\x/../.ssh/config'],
      ...[
        'l/..',
        'l/../.ssh/config',
        './/sub/',
        'sub/../../.ssh',
        '/..',
        '//etc',
        'SUB/A',
        'none/../l/b',
        '\\..\\x',
        '%2e%2e',
      ],
    ]) {
      const whole = absolute(path, { home, cwd })
      const judged = [normalize(whole).replace(/(.)\/$/, '$1'), ...(await new RealPaths().leadsTo(whole))]
      expect(judged, path).toContain((await disk.locate(path)).realPath)
    }
  })
})
