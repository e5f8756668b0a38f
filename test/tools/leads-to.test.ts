import { mkdir, realpath, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contains, leadsTo, placesOf } from '../../src/tools/files/leads-to.ts'
import { tempFolder } from './temp-folder.ts'

/** `in` with links of all kinds beside `out`. */
async function linked(): Promise<string> {
  const parent = await tempFolder({ 'in/a.txt': '', 'in/sub/deep/b.txt': '', 'out/deep/c.txt': '' })
  const links: readonly (readonly [path: string, target: string])[] = [
    ['file', 'a.txt'],
    ['folder', 'sub/deep'],
    ['out', '../out'],
    ['absolute', join(parent, 'out/deep')],
    ['chain', 'out/deep'],
    ['up', '..'],
    ['later', '../out/later/still'],
    ['later-chain', 'later'],
    ['later-in-out', 'chain/../later'],
    ['loop', 'loop2'],
    ['loop2', 'loop'],
    ['twice', 'again/again'],
    ['again', 'twice/twice'],
  ]
  for (const [path, target] of links) await symlink(target, join(parent, 'in', path))
  return parent
}

describe('where a path leads', () => {
  it.for([
    ['in/a.txt', 'in/a.txt'],
    ['in/file', 'in/a.txt'],
    ['in/folder/..', 'in/sub'],
    ['in/folder/../../up/in/folder//./b.txt/', 'in/sub/deep/b.txt'],
    ['in/chain/..', 'out'],
    ['in/absolute/../deep/c.txt', 'out/deep/c.txt'],
    // What is not there yet.
    ['in/none/at/all', 'in/none/at/all'],
    ['in/none/../folder/new', 'in/sub/deep/new'],
    ['in/none/../../in/out/new', 'out/new'],
    ['in/later', 'out/later/still'],
    ['in/later-chain/x', 'out/later/still/x'],
    ['in/later/../../deep/..', 'out'],
    ['in/later-in-out', 'out/later'],
    ['in/a.txt/below', 'in/a.txt/below'],
    [`in/${'x'.repeat(300)}/y`, `in/${'x'.repeat(300)}/y`],
    [`in/${'sub/../'.repeat(1_000)}folder/new`, 'in/sub/deep/new'],
  ] as const)('%.40s: %.40s', async ([path, end]) => {
    const parent = await linked()
    expect(await leadsTo(`${parent}/${path}`)).toBe(join(parent, end))
  })

  it('is what the system says of paths that are there', async () => {
    const parent = await linked()
    for (const path of [
      'in/up/in/chain/../deep',
      'in/absolute/c.txt',
      'in/folder/../../out/deep',
      'in/up/out/../in/up',
    ])
      expect(await leadsTo(`${parent}/${path}`), path).toBe(await realpath(`${parent}/${path}`))
  })

  it('ends in links that lead back to themselves', async () => {
    const parent = await linked()
    for (const path of ['loop/x', 'twice/again/x', 'loop/../a.txt'])
      expect(contains(parent, await leadsTo(`${parent}/in/${path}`)), path).toBe(true)
  })

  it('are two places where .. stands behind a link, and one elsewhere', async () => {
    const parent = await linked()
    const places = async (path: string) =>
      (await placesOf(`${parent}/${path}`)).map((each) => each.slice(parent.length))
    expect(await places('in/out/../x')).toEqual(['/in/x', '/x'])
    expect(await places('in/sub/../x')).toEqual(['/in/x'])
    expect(await places('in/out/x')).toEqual(['/out/x'])
    await mkdir(join(parent, 'in/out/..x'))
    expect(await places('in/out/..x')).toEqual(['/out/..x'])
  })
})

describe('a folder', () => {
  it.for([
    ['/a', '/a', true],
    ['/a', '/a/b', true],
    ['/a', '/a/..b', true],
    ['/', '/a', true],
    ['/', '/', true],
    ['/a/', '/a/b/', true],
    ['/a', '/ab', false],
    ['/a', '/', false],
    ['/a', '/b', false],
    ['/a/b', '/a', false],
    ['/a', '/a/../b', false],
  ] as const)('%s contains %s: %s', ([folder, path, is]) => {
    expect(contains(folder, path)).toBe(is)
  })
})
