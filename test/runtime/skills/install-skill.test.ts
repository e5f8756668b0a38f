import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, truncate } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { installSkill, listSkills, removeSkill } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addFiles, addSocket, tempFolder } from '../../tools/temp-folder.ts'
import { git, homeWith, repositoryWith, skillText } from './skills-on-disk.ts'

const pdf = { 'SKILL.md': skillText('pdf'), 'references/forms.md': 'Forms.', 'scripts/fill.sh': 'echo fill' }

describe('a skill in a folder', () => {
  it('is copied to the installed ones, and its name is given', async () => {
    const { env, skills, folder } = await homeWith({
      'from/pdf/SKILL.md': skillText('pdf'),
      'from/pdf/.git/config': '',
    })
    expect(await installSkill(join(folder, 'from/pdf'), { env })).toBe('pdf')
    expect(await readFile(join(skills, 'pdf/SKILL.md'), 'utf8')).toBe(skillText('pdf'))
    expect(await readdir(join(skills, 'pdf'))).toEqual(['SKILL.md'])
    expect(await listSkills(skills)).toEqual([
      {
        name: 'pdf',
        description: 'Does pdf.',
        path: join(skills, 'pdf'),
        scope: 'folder',
        valid: true,
        problems: [],
      },
    ])
  })

  it('is refused where one of its name is installed, and replaces it with force', async () => {
    const { env, skills } = await homeWith()
    const from = await tempFolder({ 'pdf/SKILL.md': skillText('pdf'), 'pdf/old.md': '' })
    await installSkill(join(from, 'pdf'), { env })
    await addFiles(from, { 'pdf/SKILL.md': skillText('pdf', { body: 'Anew.' }) })
    await rm(join(from, 'pdf/old.md'))
    await expect(installSkill(join(from, 'pdf'), { env })).rejects.toMatchObject({ code: 'skill-exists' })
    expect(await readFile(join(skills, 'pdf/SKILL.md'), 'utf8')).not.toContain('Anew.')
    expect(await installSkill(join(from, 'pdf'), { env, force: true })).toBe('pdf')
    expect(await readFile(join(skills, 'pdf/SKILL.md'), 'utf8')).toContain('Anew.')
    expect(await readdir(join(skills, 'pdf'))).toEqual(['SKILL.md'])
    expect(await readdir(skills)).toEqual(['pdf'])
  })

  it('is refused with a link that leads out of it, and nothing has changed', async () => {
    const { env, skills } = await homeWith()
    const from = await tempFolder({ 'pdf/SKILL.md': skillText('pdf'), 'secret.txt': 'S' })
    await installSkill(join(from, 'pdf'), { env })
    await symlink('/etc', join(from, 'pdf/etc'))
    await symlink('../secret.txt', join(from, 'pdf/secret'))
    await symlink('nowhere', join(from, 'pdf/lost'))
    await expect(installSkill(join(from, 'pdf'), { env, force: true })).rejects.toMatchObject({
      code: 'invalid-skill',
      details: {
        problems: [
          'etc is a link that leads out of the skill, or nowhere.',
          'lost is a link that leads out of the skill, or nowhere.',
          'secret is a link that leads out of the skill, or nowhere.',
        ],
      },
    })
    expect(await readdir(skills)).toEqual(['pdf'])
    expect(await readdir(join(skills, 'pdf'))).toEqual(['SKILL.md'])
  })

  it('keeps links within it, and of modes only that a file can be run', async () => {
    const { env, skills } = await homeWith()
    const from = await tempFolder({ 'pdf/SKILL.md': skillText('pdf'), 'pdf/run.sh': '', 'pdf/read.md': '' })
    await symlink('run.sh', join(from, 'pdf/go.sh'))
    await chmod(join(from, 'pdf/run.sh'), 0o4777)
    await chmod(join(from, 'pdf/read.md'), 0o666)
    await installSkill(join(from, 'pdf'), { env })
    const modeOf = async (name: string) => ((await lstat(join(skills, 'pdf', name))).mode & 0o7777).toString(8)
    expect(['755', '750', '700']).toContain(await modeOf('run.sh'))
    expect(['644', '640', '600']).toContain(await modeOf('read.md'))
    expect((await lstat(join(skills, 'pdf/go.sh'))).isSymbolicLink()).toBe(true)
    expect((await stat(skills)).mode & 0o777).toBe(0o700)
  })

  it('is refused with pipes and sockets, which would be waited for', async () => {
    const { env } = await homeWith()
    const from = await tempFolder({ 'pdf/SKILL.md': skillText('pdf') })
    execFileSync('mkfifo', [join(from, 'pdf/pipe')])
    await addSocket(join(from, 'pdf/socket'))
    await expect(installSkill(join(from, 'pdf'), { env })).rejects.toMatchObject({
      details: { problems: ['pipe is neither file nor folder.', 'socket is neither file nor folder.'] },
    })
  })

  it('of a gigabyte is refused before a byte of it is copied', async () => {
    const { env, folder } = await homeWith()
    const from = await tempFolder({ 'pdf/SKILL.md': skillText('pdf'), 'pdf/data.bin': '' })
    await truncate(join(from, 'pdf/data.bin'), 1e9)
    await expect(installSkill(join(from, 'pdf'), { env })).rejects.toThrow(
      'is too large. A skill must have at most 2000 files and 50 MB, got more than 50000000 bytes.',
    )
    expect(await readdir(folder)).toEqual(['app'])
  })

  it('that is invalid, no folder, or nowhere is refused', async () => {
    const { env, folder } = await homeWith({ 'from/pdf/SKILL.md': skillText('docx'), 'from/file': '' })
    await expect(installSkill(join(folder, 'from/pdf'), { env })).rejects.toThrow(
      "is no skill that can be installed:\n- name: expected 'pdf', as its folder is named, got 'docx'.",
    )
    for (const source of ['from/file', 'nowhere', '~/nowhere'])
      await expect(installSkill(source, { env, cwd: folder })).rejects.toMatchObject({ code: 'skill-not-found' })
  })

  it('leaves the old one in its place when the new one cannot be moved there', async () => {
    const { env, skills } = await homeWith()
    const from = await tempFolder({ 'pdf/SKILL.md': skillText('pdf') })
    await installSkill(join(from, 'pdf'), { env })
    await addFiles(from, { 'pdf/SKILL.md': skillText('pdf', { body: 'Anew.' }) })
    const { rename } = fs.promises
    onTestFinished(() => {
      fs.promises.rename = rename
      syncBuiltinESMExports()
    })
    fs.promises.rename = async (source, target) => {
      const isTheNewOne = target === join(skills, 'pdf') && !String(source).endsWith('-before')
      return isTheNewOne
        ? Promise.reject(Object.assign(new Error('I/O error'), { code: 'EIO', syscall: 'rename' }))
        : rename(source, target)
    }
    syncBuiltinESMExports()
    const failing = installSkill(join(from, 'pdf'), { env, force: true })
    await expect(failing).rejects.toMatchObject({ code: 'store-failed' })
    expect(await readdir(skills)).toEqual(['pdf'])
    expect(await readFile(join(skills, 'pdf/SKILL.md'), 'utf8')).toBe(skillText('pdf'))
  })
})

describe('a skill in a git repository', () => {
  it('is installed by its URL, without .git', async () => {
    const { env, skills } = await homeWith()
    const { url } = await repositoryWith(pdf)
    expect(await installSkill(url, { env })).toBe('pdf')
    expect((await readdir(join(skills, 'pdf'), { recursive: true })).toSorted()).toEqual([
      'SKILL.md',
      'references',
      'references/forms.md',
      'scripts',
      'scripts/fill.sh',
    ])
    await expect(installSkill(url, { env })).rejects.toMatchObject({ code: 'skill-exists' })
    expect(await installSkill(url, { env, force: true })).toBe('pdf')
  })

  it('is taken from a folder of it, which the error for a repository of many skills names', async () => {
    const { env } = await homeWith()
    const { url } = await repositoryWith({
      'skills/pdf/SKILL.md': skillText('pdf'),
      'skills/doc/SKILL.md': skillText('doc'),
    })
    await expect(installSkill(url, { env })).rejects.toThrow(
      `has no SKILL.md. There are skills in skills/doc, skills/pdf: name one, such as ${url}#:skills/doc`,
    )
    expect(await installSkill(`${url}#main:skills/pdf`, { env })).toBe('pdf')
    expect(await installSkill(`${url}#:skills/doc/`, { env })).toBe('doc')
  })

  it('is refused with a link that leads out of it', async () => {
    const { env, folder: home } = await homeWith()
    const { folder, url } = await repositoryWith(pdf)
    await symlink('/etc', join(folder, 'etc'))
    await git(folder, 'add', '--all')
    await git(folder, 'commit', '--quiet', '--message', 'A link')
    await expect(installSkill(url, { env })).rejects.toMatchObject({ code: 'invalid-skill' })
    expect(await readdir(home)).toEqual(['app'])
  })

  it('that cannot be reached is refused with what git said, without a password and without a question', async () => {
    const { env, folder } = await homeWith()
    const failing = installSkill(`file://${folder}/nowhere.git`, { env })
    await expect(failing).rejects.toMatchObject({ code: 'skill-fetch-failed' })
    await expect(failing).rejects.toThrow(/nowhere.git cannot be fetched\. .*does not appear to be a git repository/)
    const secret = installSkill('https://someone:pass-word@127.0.0.1:1/a.git', { env })
    await expect(secret).rejects.toMatchObject({ code: 'skill-fetch-failed' })
    await expect(secret).rejects.not.toThrow('pass-word')
  })
})

describe('the source of a skill', () => {
  const refused: readonly (readonly [string, string])[] = [
    ['--upload-pack=touch x', 'begins with -'],
    ['-u', 'begins with -'],
    ['ext::sh -c touch%20x', 'names a transport that runs a program'],
    ['fd::17', 'names a transport that runs a program'],
    ['http://example.org/a.git', 'uses http'],
    ['git://example.org/a.git', 'uses git'],
    ['ftp://example.org/a.git', 'uses ftp'],
    ['ssh://-oProxyCommand=x/a.git', 'has a name that begins with -'],
    ['https://exa mple.org/a.git', 'is no URL'],
    ['ssh://-oProxyCommand/a.git', 'has a name that begins with -'],
    ['ssh://-oProxyCommand@example.org/a.git', 'has a name that begins with -'],
    ['git@example.org:--upload-pack=x', 'has a path that begins with -'],
    ['file://example.org/a.git', 'names another machine'],
    ['https://example.org/a.git#--upload-pack=x', 'has a wrong ref'],
    ['https://example.org/a.git#+main:main', 'has a wrong ref'],
    ['https://example.org/a.git#main..x', 'has a wrong ref'],
    ['https://example.org/a.git#main:../x', 'has a wrong folder'],
    ['https://example.org/a.git#main:.git/x', 'has a wrong folder'],
    ['https://example.org/a\n.git', 'holds a control character'],
  ]
  it.each(refused)('%s is refused: it %s', async (source, why) => {
    const { env, folder } = await homeWith()
    const failing = installSkill(source, { env, cwd: folder })
    await expect(failing).rejects.toMatchObject({ code: 'invalid-argument' })
    await expect(failing).rejects.toThrow(why)
    expect(await readdir(folder)).toEqual(['app'])
  })

  it('must be a text, and options must be known', async () => {
    await expect(installSkill('')).rejects.toThrow('installSkill: source must be a text that is not empty')
    await expect(installSkill('x', { forced: true } as object)).rejects.toMatchObject({ code: 'invalid-argument' })
  })
})

describe('removing a skill', () => {
  it('removes its folder, and says so', async () => {
    const { env, skills } = await homeWith({ 'data/skills/pdf/SKILL.md': skillText('pdf') })
    expect(await removeSkill('pdf', { env })).toBe(true)
    expect(await readdir(skills)).toEqual([])
    await expect(removeSkill('pdf', { env })).rejects.toMatchObject({ code: 'skill-not-found' })
  })

  it('removes of a link the link alone', async () => {
    const { env, skills, folder } = await homeWith({ 'own/pdf/SKILL.md': skillText('pdf') })
    await mkdir(skills, { recursive: true })
    await symlink(join(folder, 'own/pdf'), join(skills, 'pdf'))
    expect(await removeSkill('pdf', { env })).toBe(true)
    expect(await readdir(join(folder, 'own/pdf'))).toEqual(['SKILL.md'])
  })

  it.each(['..', '.', '../app', 'pdf/references', '/etc', 'README.md', '.hidden', 'pdf\0'])(
    'does not find %j, which is no skill right in the folder',
    async (name) => {
      const files = { 'pdf/references/x': '', 'README.md': '', '.hidden/SKILL.md': '' }
      const { env, folder } = await homeWith()
      await addFiles(join(folder, 'data/skills'), files)
      await expect(removeSkill(name, { env })).rejects.toMatchObject({ code: 'skill-not-found' })
      expect((await readdir(join(folder, 'data/skills'))).toSorted()).toEqual(['.hidden', 'README.md', 'pdf'])
      expect(await readdir(folder)).toContain('app')
    },
  )
})
