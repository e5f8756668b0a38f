import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { guardedIn } from '../../../src/runtime/sandbox/guarded-in.ts'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'

const isLinux = process.platform === 'linux'

async function found(files: Readonly<Record<string, string>>, prepare?: (folder: string) => void) {
  const folder = await tempFolder()
  await addFiles(folder, files)
  prepare?.(folder)
  const { closed, guarded, secrets } = await guardedIn(folder)
  const named = (paths: readonly string[]) => paths.map((path) => path.slice(folder.length + 1)).toSorted()
  return { secrets: named(secrets), guarded: named(guarded.map(({ path }) => path)), closed: named(closed) }
}

const repository = (path: string) =>
  ['commondir', 'config', 'config.worktree', 'hooks'].map((name) => `${path}/${name}`)

describe('what is guarded in a folder', () => {
  it('has the .env files, links among them, but no examples', async () => {
    const { secrets } = await found(
      {
        ...{ '.env': '', 'a/b/c/d/.env.local': '', 'a/b/c/d/e/.env': '', 'app.example/.env': '', 'x.sample/.ENV': '' },
        ...{ '.env.example': '', '.env.local.template': '', 'node_modules/a/.env': '', environment: '', '.envrc': '' },
        '.env.d/a': '',
      },
      (folder) => {
        symlinkSync('../elsewhere', join(folder, 'a/.env'))
        symlinkSync('.', join(folder, 'round'))
      },
    )
    expect(secrets).toEqual(['.env', 'a/.env', 'a/b/c/d/.env.local', 'app.example/.env', 'x.sample/.ENV'])
  })

  it('has what git obeys in repositories, in those of submodules, and in files that name a repository', async () => {
    const { guarded } = await found({
      ...{ '.git/HEAD': '', '.git/modules/libs/one/HEAD': '', '.git/modules/libs/one/modules/two/HEAD': '' },
      ...{ '.git/worktrees/w/commondir': '', 'libs/one/.git': 'gitdir: x', 'packages/inner/.git/HEAD': '' },
    })
    expect(guarded).toEqual(
      [
        ...['.git', '.git/modules/libs/one', '.git/modules/libs/one/modules/two', 'packages/inner/.git'].flatMap(
          repository,
        ),
        ...['.git/worktrees/w/commondir', '.git/worktrees/w/config.worktree', 'libs/one/.git'],
      ].toSorted(),
    )
  })

  it('has whole repositories in folders whose names are patterns', async () => {
    const { closed, guarded } = await found({ 'app/[id]/.git/config': '', 'app/x]/.git': 'gitdir: x' })
    expect([closed, guarded]).toEqual([['app/[id]/.git', 'app/x]/.git'], []])
  })

  it.runIf(isLinux)('has no files with names that are not UTF-8: it says so', async () => {
    const raw = Buffer.from([0xe9])
    const inRaw = (folder: string, name: string) => Buffer.concat([Buffer.from(`${folder}/`), raw, Buffer.from(name)])
    const harmless = await found({}, (folder) => mkdirSync(inRaw(folder, '')))
    expect(harmless.secrets).toEqual([])
    const secret = found({}, (folder) => {
      mkdirSync(inRaw(folder, ''))
      writeFileSync(inRaw(folder, '/.env'), '')
    })
    await expect(secret).rejects.toThrow(/a name that is not UTF-8 and cannot be guarded/)
  })

  it.runIf(isLinux && process.getuid?.() !== 0)('has folders that the user cannot list', async () => {
    const { closed } = await found({}, (folder) => mkdirSync(join(folder, 'shut'), { mode: 0o300 }))
    expect(closed).toEqual(['shut'])
  })

  it('is not more than a thousand', async () => {
    const folders = Array.from({ length: 3 }, (_, at) => [`r${at}/.git/HEAD`, ''])
    const files = Array.from({ length: 998 }, (_, at) => [`a/.env.${at}`, ''])
    await expect(found(Object.fromEntries([...folders, ...files]))).rejects.toThrow(
      'holds more than 1000 repositories and .env files',
    )
  })
})
