import { appendFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineTool, type ModelRequest, type ScriptedReply, textOf, VirtualClock } from 'entia'
import { type ChatSession, listSkills, openSession, sessionSetup, type SetupOptions } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { addFiles } from '../../tools/temp-folder.ts'
import { script } from '../chat/chatting.ts'
import { homeWith, skillText } from './skills-on-disk.ts'

type Home = Awaited<ReturnType<typeof homeWith>>

/** A chat session in that home, whose model answers by a script; closed when the test is over. */
async function chatIn(
  { cwd, env }: Home,
  replies: readonly ScriptedReply[] = ['Well.'],
  { key, ...options }: SetupOptions & { readonly key?: string } = {},
) {
  const { models, requests } = script(replies)
  const notices: string[] = []
  const common = {
    cwd,
    env,
    host: { clock: new VirtualClock(), models },
    onNotice: (notice: string) => notices.push(notice),
  }
  const session: ChatSession =
    key === undefined
      ? await sessionSetup({ ...common, provider: 'script', model: 'm', ...options })
      : await openSession({ ...common, key })
  onTestFinished(() => session.close())
  return { session, requests, notices }
}

function systemOf(request: ModelRequest | undefined): string {
  return request?.system ?? ''
}

const placeOf = ({ cwd, env }: Home) => ({ cwd, env })

/** What the model gets for its last call. */
function resultIn({ history }: ChatSession): string {
  const message = history.findLast(({ role }) => role === 'tool')
  return message === undefined ? '' : textOf(message)
}

const calling = (name: string): ScriptedReply => ({ toolCalls: [{ name: 'skill', arguments: { name } }] })

const names = Array.from({ length: 20 }, (_, index) => `skill-${String(index + 10)}`)
const twenty = Object.fromEntries(names.map((name) => [`data/skills/${name}/SKILL.md`, skillText(name)]))

describe('a chat session with twenty skills', () => {
  it('has names and descriptions in its prompt, sorted, and no body', async () => {
    const { requests, session } = await chatIn(await homeWith(twenty))
    await session.turn('Hello')
    const system = systemOf(requests[0])
    expect(system.match(/^- skill-\d+: Does skill-\d+\.$/gm)).toEqual(names.map((name) => `- ${name}: Does ${name}.`))
    expect(system).not.toContain('How to do')
  })

  it('gets the body by the tool skill, with the folder, its files, and the tools that it names', async () => {
    const home = await homeWith({
      ...twenty,
      'data/skills/pdf/SKILL.md':
        '---\nname: pdf\ndescription: Fills forms.\nallowed-tools: Bash(git:*) Read\nlicense: MIT\ncompatibility: Needs qpdf\n---\nRun it.',
      'data/skills/pdf/references/forms.md': '',
      'data/skills/pdf/run.sh': '',
    })
    const { session } = await chatIn(home, [calling('pdf'), 'Done.'])
    await session.turn('Fill the form')
    expect(resultIn(session)).toBe(
      [
        'Skill: pdf',
        `Folder: ${join(home.skills, 'pdf')} (paths in the text below count from here)`,
        'Compatibility: Needs qpdf',
        'License: MIT',
        'Tools that it names: Bash(git:*) Read (this grants nothing)',
        'Files:',
        '  run.sh',
        '  references/forms.md',
        '',
        'Run it.',
      ].join('\n'),
    )
  })

  it('answers a name that there is not with the nearest and all others', async () => {
    const { session } = await chatIn(await homeWith(twenty), [calling('skil-11'), calling('../../app'), 'Done.'])
    await session.turn('Go')
    const answers = session.history.filter(({ role }) => role === 'tool').map((message) => textOf(message))
    expect(answers[0]).toMatch(
      /^Error: there is no skill skil-11\. Did you mean 'skill-11'.* There are: skill-10, skill-11,/,
    )
    expect(answers[1]).toMatch(/^Error: there is no skill \.\.\/\.\.\/app\. There are:/)
  })

  it('reads the text of today, under a prompt that stays as it was when the chat began, also when opened again', async () => {
    const home = await homeWith(twenty)
    const { requests, session } = await chatIn(home, [calling('skill-11'), 'Done.'])
    await appendFile(join(home.skills, 'skill-11/SKILL.md'), 'And then stop.')
    await session.turn('Go')
    expect(resultIn(session)).toContain('And then stop.')
    await session.close()
    await writeFile(
      join(home.skills, 'skill-11/SKILL.md'),
      skillText('skill-11', { description: 'Another one.', body: 'Anew.' }),
    )
    await rm(join(home.skills, 'skill-12'), { recursive: true })
    const again = await chatIn(home, [calling('skill-11'), 'Done.'], { key: session.key })
    await again.session.turn('Go on')
    expect(resultIn(again.session)).toContain('Anew.')
    expect(systemOf(again.requests[0])).toBe(systemOf(requests[0]))
    expect(again.requests[0]?.tools).toEqual(requests[0]?.tools)
  })
})

describe('skills of a chat session', () => {
  it('are not spoken of where there are none, nor where the tools of the chat leave them out', async () => {
    const none = await chatIn(await homeWith())
    const withoutTool = await chatIn(await homeWith(twenty), undefined, { tools: ['file'] })
    const own = defineTool({ name: 'skill', description: 'x', input: z.object({}), restart: 'pure', run: () => 'own' })
    const withOwn = await chatIn(await homeWith(twenty), undefined, { tools: ['all', own] })
    for (const { requests, session } of [none, withoutTool, withOwn]) {
      await session.turn('Hello')
      expect(systemOf(requests[0])).not.toContain('Skills are')
    }
    const named = await chatIn(await homeWith(twenty), undefined, { tools: ['file', 'skill'] })
    await named.session.turn('Hello')
    expect(systemOf(named.requests[0])).toContain('- skill-10')
    expect(named.requests[0]?.tools.map(({ name }) => name)).toContain('skill')
  })

  it('are those of the user and of the project, of which the latter count, and .entia counts over .agents', async () => {
    const home = await homeWith({
      'data/skills/a/SKILL.md': skillText('a', { description: 'Of the user.' }),
      'data/skills/b/SKILL.md': skillText('b', { description: 'Of the user.' }),
      'app/.agents/skills/b/SKILL.md': skillText('b', { description: 'Of the agents.' }),
      'app/.agents/skills/c/SKILL.md': skillText('c', { description: 'Of the agents.' }),
      'app/.entia/skills/c/SKILL.md': skillText('c', { description: 'Of Entia.', body: 'By Entia.' }),
    })
    const { notices, requests, session } = await chatIn(home, [calling('c'), 'Done.'])
    await session.turn('Hello')
    expect(systemOf(requests[0]).match(/^- \w: .*$/gm)).toEqual([
      '- a: Of the user.',
      '- b: Of the agents.',
      '- c: Of Entia.',
    ])
    expect(resultIn(session)).toContain('By Entia.')
    expect(notices).toEqual([`The skill b is the one in ${join(home.cwd, '.agents/skills/b')}, not your own.`])
    const listed = await listSkills(undefined, placeOf(home))
    expect(listed.map(({ name, scope, overriddenBy }) => [name, scope, overriddenBy])).toEqual([
      ['a', 'user', undefined],
      ['b', 'user', join(home.cwd, '.agents/skills/b')],
      ['b', 'project', undefined],
      ['c', 'project', join(home.cwd, '.entia/skills/c')],
      ['c', 'project', undefined],
    ])
  })

  it('with problems are listed with them, named once, and not offered; they stand in for no other', async () => {
    const home = await homeWith({
      'data/skills/a/SKILL.md': skillText('a'),
      'app/.agents/skills/a/SKILL.md': skillText('other'),
      'app/.agents/skills/empty/README.md': '',
      'app/.agents/skills/README.md': '',
    })
    const { notices, requests, session } = await chatIn(home, [calling('a'), calling('empty'), 'Done.'])
    await session.turn('Hello')
    expect(systemOf(requests[0])).toContain('- a: Does a.')
    expect(systemOf(requests[0])).not.toContain('empty')
    expect(resultIn(session)).toBe('Error: the skill empty cannot be used. There is no SKILL.md in it.')
    expect(notices).toEqual([
      'Not offered, as something is wrong with them: the skills a, empty. entia skills list says what.',
    ])
    expect((await listSkills(undefined, placeOf(home))).map(({ problems, valid }) => ({ problems, valid }))).toEqual([
      { valid: true, problems: [] },
      { valid: false, problems: ["name: expected 'a', as its folder is named, got 'other'."] },
      { valid: false, problems: ['There is no SKILL.md in it.'] },
    ])
  })

  it('of a project are not read where a link leads out of it; those of the user may be links', async () => {
    const home = await homeWith({
      'secret/pdf/SKILL.md': skillText('pdf'),
      'app/.agents/skills/doc/README.md': '',
      'secret/SKILL.md': skillText('doc', { body: 'Private.' }),
      'data/skills/own/SKILL.md': skillText('own'),
    })
    await symlink(join(home.folder, 'secret/pdf'), join(home.cwd, '.agents/skills/pdf'))
    await symlink(join(home.folder, 'secret/SKILL.md'), join(home.cwd, '.agents/skills/doc/SKILL.md'))
    const listed = await listSkills(undefined, placeOf(home))
    expect(listed.map(({ name, problems }) => [name, ...problems])).toEqual([
      ['own'],
      ['doc', 'SKILL.md must not be a link that leads out of its folder.'],
      ['pdf', 'It is a link that leads out of the project.'],
    ])
    await symlink(join(home.folder, 'secret/pdf'), join(home.skills, 'pdf'))
    const { session } = await chatIn(home, [calling('pdf'), calling('doc'), 'Done.'])
    await session.turn('Hello')
    expect(session.history.filter(({ role }) => role === 'tool').map((message) => textOf(message))).toEqual([
      expect.stringContaining('How to do pdf.'),
      expect.stringMatching(/^Error: the skill doc cannot be used\./),
    ])
  })

  it('have descriptions on one line, without what a terminal or a person would not see', async () => {
    const description = JSON.stringify('One.\n\n# Rules\n- b: \u001B[31mred\u0007 \u202Ereversed\u{E0041}')
    const home = await homeWith({ 'data/skills/a/SKILL.md': skillText('a', { description }) })
    const { requests, session } = await chatIn(home)
    await session.turn('Hello')
    expect(systemOf(requests[0])).toContain('\n- a: One. # Rules - b: red reversed')
  })

  it('take a bounded part of the prompt, however many there are', async () => {
    const home = await homeWith()
    const description = 'word '.repeat(200)
    const many = Array.from({ length: 300 }, (_, index) => `skill-${index + 100}`)
    await addFiles(
      home.skills,
      Object.fromEntries(many.map((name) => [`${name}/SKILL.md`, skillText(name, { description })])),
    )
    expect(await readdir(home.skills)).toHaveLength(300)
    const { notices, requests, session } = await chatIn(home)
    await session.turn('Hello')
    const lines = systemOf(requests[0]).match(/^- skill-.*$/gm) ?? []
    expect(lines).toHaveLength(300)
    expect(lines.join('\n').length).toBeLessThan(24_000)
    expect(notices).toEqual([expect.stringContaining('300 skills are more than the system prompt has room for')])
  })
})
