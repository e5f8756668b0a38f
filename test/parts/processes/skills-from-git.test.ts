import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { installSkill } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { git, homeWith, repositoryWith, skillText } from '../../runtime/skills/skills-on-disk.ts'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'

const pdf = { 'SKILL.md': skillText('pdf'), 'references/forms.md': 'Forms.', 'scripts/fill.sh': 'echo fill' }

describe('a skill in a git repository', () => {
  it('is taken from a branch, a tag or a commit behind #', async () => {
    const { env, skills } = await homeWith()
    const { folder, url } = await repositoryWith(pdf)
    await git(folder, 'tag', 'v1')
    const first = (await git(folder, 'rev-parse', 'HEAD')).trim()
    await addFiles(folder, { 'SKILL.md': skillText('pdf', { body: 'Second.' }) })
    await git(folder, 'checkout', '--quiet', '-b', 'feature/x')
    await git(folder, 'commit', '--quiet', '--all', '--message', 'Second')
    await git(folder, 'checkout', '--quiet', 'main')
    const body = async (ref: string) => {
      await installSkill(`${url}#${ref}`, { env, force: true })
      return (await readFile(join(skills, 'pdf/SKILL.md'), 'utf8')).trim().split('\n').at(-1)
    }
    expect(await body('feature/x')).toBe('Second.')
    expect(await body('v1')).toBe('How to do pdf.')
    expect(await body('feature/x')).toBe('Second.')
    expect(await body(first)).toBe('How to do pdf.')
    await expect(body('nope')).rejects.toMatchObject({ code: 'skill-fetch-failed' })
  })

  it('runs no hook, no filter and no submodule of the repository', async () => {
    const { env, skills, folder: home } = await homeWith()
    const inner = await repositoryWith({ 'SKILL.md': skillText('inner') })
    const { folder, url } = await repositoryWith({ ...pdf, '.gitattributes': '* filter=evil' })
    await git(folder, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.url, 'inner')
    await git(folder, 'commit', '--quiet', '--message', 'A submodule')
    const evil = join(home, 'evil.sh')
    await writeFile(evil, `#!/bin/sh\ntouch ${join(home, 'ran')}\ncat\n`, { mode: 0o755 })
    await mkdir(join(home, 'template/hooks'), { recursive: true })
    await writeFile(join(home, 'template/hooks/post-checkout'), `#!/bin/sh\ntouch ${join(home, 'ran')}\n`, {
      mode: 0o755,
    })
    await writeFile(
      join(home, '.gitconfig'),
      `[filter "evil"]\nsmudge = ${evil}\n[init]\ntemplateDir = ${join(home, 'template')}\n[submodule]\nrecurse = true\n`,
    )
    expect(await installSkill(url, { env })).toBe('pdf')
    expect(await readdir(home)).not.toContain('ran')
    expect(await readdir(join(skills, 'pdf/inner'))).toEqual([])
  })

  it('that packs a gigabyte into a little is refused before its files are written', async () => {
    const { env } = await homeWith()
    const { folder, url } = await repositoryWith(pdf)
    await truncate(join(folder, 'references/forms.md'), 50_000_000)
    await git(folder, '-c', 'core.compression=1', 'commit', '--quiet', '--all', '--message', 'Zeros')
    await expect(installSkill(url, { env })).rejects.toThrow(/too large.*got 500000\d\d bytes/)
  })

  it('of hundreds of megabytes is stopped while it is fetched, before it fills the disk', async () => {
    const { env, folder: home } = await homeWith()
    const { folder, url } = await repositoryWith(pdf)
    // What cannot be packed smaller.
    for (let part = 0; part < 3; part++) await writeFile(join(folder, `data-${part}.bin`), randomBytes(50_000_000))
    await git(folder, '-c', 'core.compression=0', 'add', '--all')
    await git(folder, 'commit', '--quiet', '--message', 'Noise')
    await git(folder, 'config', 'pack.compression', '0')
    await expect(installSkill(url, { env })).rejects.toThrow(
      /too large.*got (?:more than \d+ bytes to fetch|\d+ bytes)\./,
    )
    expect(await readdir(home)).toEqual(['app'])
  })

  it('that takes too long is given up, and git is ended', async () => {
    const { env, folder } = await homeWith()
    // A program that git takes for ssh, and that never answers.
    await writeFile(join(folder, 'ssh'), '#!/bin/sh\nexec sleep 100\n', { mode: 0o755 })
    const slow = { ...env, PATH: `${folder}:${env.PATH ?? ''}` }
    const failing = installSkill('git@example.org:a.git', { env: slow, timeoutMs: 300 })
    await expect(failing).rejects.toMatchObject({ code: 'skill-fetch-failed' })
    await expect(failing).rejects.toThrow('It took more than 0.3 s.')
    const called = new AbortController()
    const cancelled = installSkill('git@example.org:a.git', { env: slow, signal: called.signal })
    called.abort(new Error('not now'))
    await expect(cancelled).rejects.toThrow('not now')
  })
})

describe('a skill in a folder', () => {
  it('of too many files is refused', async () => {
    const { env } = await homeWith()
    const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`pdf/${index}`, '']))
    const from = await tempFolder({ ...many, 'pdf/SKILL.md': skillText('pdf') })
    await expect(installSkill(join(from, 'pdf'), { env })).rejects.toThrow('got more than 2000 files')
  })
})
