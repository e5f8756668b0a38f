import { readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import { sessionSetup } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { slashAction } from '../../../src/cli/chat/slash-actions.ts'
import { UsageError } from '../../../src/cli/parsed-words.ts'
import { skillsCommand } from '../../../src/cli/skills-command.ts'
import { script } from '../../runtime/chat/chatting.ts'
import { homeWith, repositoryWith, skillText } from '../../runtime/skills/skills-on-disk.ts'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'
import { Output } from '../../cli/output.ts'
import { run } from '../../cli/program.ts'

type Home = Awaited<ReturnType<typeof homeWith>>

async function said({ cwd, env }: Home, words: readonly string[], columns?: number) {
  const stdout = new Output(columns)
  const interruption = () => ({ signal: new AbortController().signal, exitCode: () => 130 })
  const code = await skillsCommand(words, { environment: env, cwd, stdout, interruption })
  return { code, text: stdout.text, lines: stdout.text.split('\n').slice(0, -1) }
}

const long = 'Reads PDF files, and fills forms in them. Use it when a task names a PDF, a form or a signature.'

function homeOfMany(): Promise<Home> {
  return homeWith({
    'data/skills/pdf/SKILL.md': skillText('pdf', { description: long }),
    'data/skills/notes/SKILL.md': skillText('notes', { description: 'Of the user.' }),
    'app/.agents/skills/notes/SKILL.md': skillText('notes', { description: 'Of the project.' }),
    'app/.agents/skills/broken/SKILL.md': skillText('other'),
  })
}

describe('entia skills list', () => {
  it('lists skills with their scope, their problems, and what counts over them', async () => {
    const home = await homeOfMany()
    const { code, lines } = await said(home, ['list'])
    expect(code).toBe(0)
    expect(lines).toEqual([
      'notes   user     Of the user.',
      `  Not used: ${join(home.cwd, '.agents/skills/notes')} counts instead.`,
      `pdf     user     ${long}`,
      'broken  project',
      "  name: expected 'broken', as its folder is named, got 'other'.",
      'notes   project  Of the project.',
    ])
  })

  it('prints an object a line with --json, for one folder with --dir', async () => {
    const home = await homeOfMany()
    const { lines } = await said(home, ['list', '--json'])
    expect(lines.map((line) => JSON.parse(line) as { name: string; valid: boolean })).toMatchObject([
      { name: 'notes', scope: 'user', valid: true, overriddenBy: join(home.cwd, '.agents/skills/notes') },
      { name: 'pdf', scope: 'user', valid: true, problems: [], path: join(home.skills, 'pdf') },
      { name: 'broken', scope: 'project', valid: false, problems: [expect.stringContaining('name: ')] },
      { name: 'notes', scope: 'project', valid: true },
    ])
    expect((await said(home, ['list', '--dir', '.agents/skills', '--json'])).lines).toHaveLength(2)
  })

  it('says how to get one where there is none', async () => {
    expect((await said(await homeWith(), [])).text).toBe(
      'There is no skill here. Install one: entia skills install SOURCE\n',
    )
  })

  it('lists skills of tool packages, and runs nothing of the packages', async () => {
    const home = await homeWith({
      'config/config.json': '{ "toolPackages": ["deploy"] }',
      'config/node_modules/deploy/package.json': JSON.stringify({ entia: { tools: './x.js', skills: './skills' } }),
      'config/node_modules/deploy/x.js': 'globalThis.wasRun = true',
      'config/node_modules/deploy/skills/deploying/SKILL.md': skillText('deploying'),
    })
    expect((await said(home, ['list'])).lines).toEqual(['deploying  package  Does deploying.'])
    expect(globalThis).not.toHaveProperty('wasRun')
  })

  it('is a table on a terminal, in colours, of which no line is too long', async () => {
    const home = await homeOfMany()
    const { text } = await said(home, ['list'], 80)
    const plain = stripVTControlCharacters(text).split('\n').slice(0, -1)
    expect(text).not.toBe(stripVTControlCharacters(text))
    expect(plain.every((line) => stringWidth(line) <= 80)).toBe(true)
    expect(plain).toContain('pdf     user     Reads PDF files, and fills forms in them. Use it when a task n…')
  })

  it('has descriptions below the names on a narrow terminal', async () => {
    const { text } = await said(await homeOfMany(), ['list'], 40)
    const plain = stripVTControlCharacters(text).split('\n').slice(0, -1)
    expect(plain.every((line) => stringWidth(line) <= 40)).toBe(true)
    expect(plain.slice(plain.indexOf('pdf  user'), plain.indexOf('broken  project'))).toEqual([
      'pdf  user',
      '  Reads PDF files, and fills forms in',
      '  them. Use it when a task names a PDF,',
      '  a form or a signature.',
    ])
  })

  it('has no colours on a dumb terminal', async () => {
    const home = await homeOfMany()
    const { text } = await said({ ...home, env: { ...home.env, TERM: 'dumb' } as Home['env'] }, ['list'], 80)
    expect(text).toBe(stripVTControlCharacters(text))
  })

  it('shows nothing that a skill or a folder could move the cursor with', async () => {
    const home = await homeWith({
      'data/skills/a/SKILL.md': skillText('a', { description: JSON.stringify('\u001B[2Jgone\nb  user  Faked') }),
      'data/skills/b\u001B[31m/SKILL.md': '',
    })
    const { lines } = await said(home, ['list'])
    expect(lines.slice(0, 1)).toEqual(['a  user  gone b user Faked'])
    expect(lines.join('\n')).toBe(stripVTControlCharacters(lines.join('\n')))
  })
})

describe('entia skills install, remove and test', () => {
  it('install for the user, for the project, or in another folder', async () => {
    const home = await homeWith()
    const { url } = await repositoryWith({ 'SKILL.md': skillText('pdf') })
    expect((await said(home, ['install', url])).text).toBe(`Installed pdf in ${join(home.skills, 'pdf')}\n`)
    await expect(said(home, ['install', url])).rejects.toThrow('Use --force to replace that.')
    expect((await said(home, ['install', url, '--force'])).code).toBe(0)
    const project = await said(home, ['install', url, '--project', '--json'])
    expect(JSON.parse(project.text)).toEqual({ name: 'pdf', path: join(home.cwd, '.agents/skills/pdf') })
    expect((await said(home, ['install', '--dir', '~/mine', url])).text).toContain(join(home.folder, 'mine/pdf'))
    expect((await said(home, ['remove', 'pdf', '--project'])).text).toBe('Removed pdf\n')
    expect(await readdir(join(home.cwd, '.agents/skills'))).toEqual([])
    await expect(said(home, ['remove', 'nope'])).rejects.toThrow('entia skills list shows all of them.')
  })

  it('test the skill of a name or a folder, and fail with its tests', async () => {
    const home = await homeWith({ 'data/skills/pdf/SKILL.md': skillText('pdf') })
    expect(await said(home, ['test', 'pdf'])).toMatchObject({ code: 0, text: 'pdf has no tests.\n' })
    await addFiles(home.skills, { 'pdf/a.test.mjs': "throw new Error('no')" })
    const text = `0 passed, 0 failed, 1 errors. To see why, run node --test in ${join(home.skills, 'pdf')}\n`
    expect(await said(home, ['test', 'pdf'])).toMatchObject({ code: 1, text })
    const json = await said(home, ['test', join(home.skills, 'pdf'), '--json'])
    expect(JSON.parse(json.text)).toMatchObject({ passed: 0, failed: 0, errors: 1 })
    await expect(said(home, ['test', 'nope'])).rejects.toMatchObject({ code: 'skill-not-found' })
  })

  it.each([
    [['instal', 'x'], "There is no command 'entia skills instal'. Did you mean 'install'?"],
    [['install'], 'entia skills install needs a folder or a git URL.'],
    [['install', 'a', 'b'], 'entia skills install takes one, got a b.'],
    [['remove'], 'entia skills remove needs a name.'],
    [['list', 'x'], 'entia skills list takes no more words, got x.'],
    [['list', '--force'], '--force is for entia skills install.'],
    [['list', '--project', '--dir', 'x'], 'Give --project or --dir, not both.'],
    [['list', '--dir', ''], '--dir must not be empty.'],
  ])('refuse %j', async (words, message) => {
    const refused = said(await homeWith(), words)
    await expect(refused).rejects.toBeInstanceOf(UsageError)
    await expect(refused).rejects.toThrow(message)
  })

  it('end with 2 for a source that cannot be one, and with 1 for a skill that cannot be installed', async () => {
    const here = await tempFolder({ 'pdf/SKILL.md': skillText('pdf') })
    await symlink('/etc', join(here, 'pdf/etc'))
    const env = { ENTIA_DATA_DIR: join(here, 'data'), PATH: process.env['PATH'] ?? '' }
    expect(await run(['skills', 'install', 'ext::sh -c x'], { in: here, env })).toMatchObject({ code: 2, stdout: '' })
    const { code, stderr } = await run(['skills', 'install', 'pdf'], { in: here, env })
    expect(code).toBe(1)
    expect(stderr).toBe(
      `entia: ${here}/pdf is no skill that can be installed:\n- etc is a link that leads out of the skill, or nowhere.\n`,
    )
  })
})

describe('/skills in a chat', () => {
  it('lists the skills that the agent can read, and says how to get one where there is none', async () => {
    const chatIn = async ({ cwd, env }: Home) => {
      const { models } = script([])
      const session = await sessionSetup({ cwd, env, model: 'script/m', host: { models }, onNotice: () => undefined })
      onTestFinished(() => session.close())
      return slashAction('skills', '', session)
    }
    expect((await chatIn(await homeOfMany())).split('\n')).toEqual([
      'notes   user     Of the user.',
      expect.stringMatching(/^ {2}Not used: /),
      `pdf     user     ${long}`,
      'broken  project',
      expect.stringMatching(/^ {2}name: expected/),
      'notes   project  Of the project.',
      'Name one in a message to have it used.',
    ])
    expect(await chatIn(await homeWith())).toMatch(/^The agent has no skills here\./)
  })
})
