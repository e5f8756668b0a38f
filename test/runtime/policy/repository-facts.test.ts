import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Channel } from '../../../src/protocol/policy.ts'
import { policy } from '../../../src/rules/policy/policy.ts'
import { inspectCall } from '../../../src/runtime/policy/inspect-call.ts'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'
import { committed, git } from '../tools/repositories.ts'

let first: string

beforeAll(async () => {
  first = await mkdtemp(join(tmpdir(), 'entia-home-'))
  await addFiles(first, { 'app/a.txt': 'one\n', 'other/secret.txt': 'needle\n', '.ssh/config': 'Host a\n' })
  committed(join(first, 'app'))
  committed(join(first, 'other'))
})
afterAll(() => rm(first, { recursive: true, force: true }))

/** A home folder with the repositories `app` and `other`: a copy of the first one, which takes a tenth of the time. */
async function homeOfTwo(): Promise<string> {
  const home = await tempFolder()
  await cp(first, home, { recursive: true })
  return home
}

async function judged(home: string, { cwd = 'app', path, channel = 'mcp' }: Readonly<Record<string, string>> = {}) {
  const call = {
    ...{ tool: 'git_diff', arguments: path === undefined ? {} : { file: path }, channel: channel as Channel },
    ...{ home, cwd: join(home, cwd), declared: { operation: 'read' as const, paths: ['file'], category: 'git' } },
  }
  const { approval, reason } = policy({ ...call, facts: await inspectCall(call) })
  return `${approval}: ${reason.replaceAll(home, '~')}`
}

const allowed = 'allow: default: code/read/mcp'

describe('a call of git, judged by all that git reads for it', () => {
  it('is allowed in a repository of its own, a linked work tree, a submodule and a folder within one', async () => {
    const home = await homeOfTwo()
    git(join(home, 'other'), 'worktree', 'add', '--quiet', '-b', 'x', join(home, 'linked'))
    git(join(home, 'other'), 'submodule', 'add', '--quiet', join(home, 'app'), 'deep/sub')
    for (const cwd of ['app', 'other', 'linked', 'other/deep/sub', 'other/deep'])
      expect(await judged(home, { cwd }), cwd).toBe(allowed)
    git(join(home, 'linked'), 'submodule', 'add', '--quiet', join(home, 'app'), 'sub')
    expect(await judged(home, { cwd: 'linked/sub' })).toBe(allowed)
    expect(await judged(home, { cwd: 'other/.git' })).toBe(allowed)
    await mkdir(join(home, 'none'))
    expect(await judged(home, { cwd: 'none' })).toBe(allowed)
  })

  it.for<[string, string, (app: string, other: string) => Promise<void>]>([
    ['by a .git file', 'other/.git', (app) => addFiles(app, { '.git': 'gitdir: ../other/.git\n' })],
    ['by a .git link', 'other/.git', (app) => symlink('../other/.git', join(app, '.git'))],
    [
      'by a .git file to a linked work tree of another folder',
      'other/.git/worktrees/linked',
      async (app, other) => {
        git(other, 'worktree', 'add', '--quiet', '-b', 'x', join(app, '../linked'))
        await addFiles(app, { '.git': `gitdir: ${other}/.git/worktrees/linked\n` })
      },
    ],
    [
      'by a commondir',
      'other/.git',
      async (app, other) => {
        await cp(join(other, '.git'), join(app, '.git'), { recursive: true })
        await addFiles(app, { '.git/commondir': '../../other/.git\n' })
      },
    ],
    ...['objects', 'refs', 'index', 'objects/pack', 'refs/heads'].map(
      (part): [string, string, (app: string, other: string) => Promise<void>] => [
        `by a link to its ${part}`,
        `other/.git/${part}`,
        async (app, other) => {
          await cp(join(other, '.git'), join(app, '.git'), { recursive: true })
          await rm(join(app, '.git', part), { recursive: true })
          await symlink(join(other, '.git', part), join(app, '.git', part))
        },
      ],
    ),
    [
      'by borrowed objects',
      'other/.git/objects',
      async (app, other) => {
        git(app, 'init', '--quiet')
        await addFiles(app, { '.git/objects/info/alternates': `${other}/.git/objects\n` })
      },
    ],
  ])('is judged by another repository that it reads %s', async ([, place, prepare]) => {
    const home = await homeOfTwo()
    const app = join(home, 'app')
    await rm(join(app, '.git'), { recursive: true })
    await prepare(app, join(home, 'other'))
    expect(await judged(home)).toBe(`deny: outside the working folder: ~/${place}`)
    expect(await judged(home, { channel: 'cli' })).toBe('allow: default: other/read/cli')
    expect(await judged(home, { channel: 'matrix' })).toBe('ask: default: other/read/matrix')
  })

  it('is judged by files that the configuration of a repository has git read', async () => {
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const [key, value] of [
      ['include.path', '~/.ssh/config'],
      ['includeIf.gitdir:/.path', '../../.ssh/config'],
      ['core.attributesFile', '~/.ssh/config'],
      ['core.excludesFile', '../.ssh/config'],
      ['mailmap.file', '../.ssh/config'],
    ] as const) {
      const home = await homeOfTwo()
      await addFiles(home, { '.ssh/config': '[a]\n\tb = c\n' })
      git(join(home, 'app'), 'config', key, value)
      vi.stubEnv('HOME', home)
      expect(await judged(home, { channel: 'cli' }), key).toBe('ask: credential path: ~/.ssh/config')
    }
  })

  it('is judged in the working folder, too, where it names a path', async () => {
    const home = await homeOfTwo()
    await rm(join(home, 'app/.git'), { recursive: true })
    await addFiles(home, { 'app/.git': 'gitdir: ../other/.git\n', 'app/bare/HEAD': 'ref: refs/heads/main\n' })
    await addFiles(home, { 'app/bare/objects/x': '', 'app/bare/refs/x': '' })
    expect(await judged(home, { path: 'bare' })).toMatch(/^deny: outside the working folder: ~\/other\/\.git/)
  })
})
