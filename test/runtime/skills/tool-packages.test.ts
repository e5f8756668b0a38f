import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type EntiaError, textOf, VirtualClock } from 'entia'
import { sessionSetup, type SetupOptions } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rejection } from '../../behaviour/turns/driving.ts'
import { addFiles } from '../../tools/temp-folder.ts'
import { script } from '../chat/chatting.ts'
import { homeWith, skillText } from './skills-on-disk.ts'

/** The module of a package with these tools, as `defineTool` makes them. */
function moduleOf(...names: readonly string[]): string {
  const tools = names.map((name) => {
    const declaration = { name, description: `Does ${name}.`, inputSchema: { type: 'object' }, restart: 'pure' }
    return `{ declaration: ${JSON.stringify(declaration)}, call: () => ({ content: [{ type: 'text', text: '${name} ran' }] }) }`
  })
  return `export default [${tools.join(', ')}]`
}

const manifest = (entia: unknown): string => JSON.stringify({ name: 'x', type: 'module', entia })

/** A home with packages in the configuration folder, which are used from any project. */
async function homeWithPackages(files: Readonly<Record<string, string>>, config: object = {}) {
  return homeWith({
    'config/config.json': JSON.stringify({ toolPackages: ['deploy'], ...config }),
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`config/node_modules/${path}`, text])),
  })
}

const deploy = {
  'deploy/package.json': manifest({ tools: './tools.js', skills: './skills' }),
  'deploy/tools.js': moduleOf('deploy_app', 'roll_back'),
  'deploy/skills/deploying/SKILL.md': skillText('deploying'),
}

type Home = Awaited<ReturnType<typeof homeWith>>

async function chatIn({ cwd, env }: Home, options: SetupOptions = {}) {
  const { models, requests } = script([{ toolCalls: [{ name: 'deploy_app' }] }, 'Done.'])
  const notices: string[] = []
  const session = await sessionSetup({
    ...{ cwd, env, provider: 'script', model: 'm', host: { clock: new VirtualClock(), models } },
    onNotice: (notice) => notices.push(notice),
    ...options,
  })
  onTestFinished(() => session.close())
  const toolNames = async () => {
    await session.turn('Go')
    const names = requests[0]?.tools.map(({ name }) => name) ?? []
    return names.filter((name) => !['recall', 'mark_task_done'].includes(name))
  }
  return { session, notices, toolNames, requests }
}

async function refusal(home: Home): Promise<EntiaError> {
  return (await rejection(chatIn(home))) as EntiaError
}

describe('a tool package', () => {
  it('brings tools and skills to chat sessions, and its calls are asked about, as what they do is not known', async () => {
    const asked: unknown[] = []
    const { requests, session, toolNames } = await chatIn(await homeWithPackages(deploy), {
      approve: ({ tool }, decision) => {
        asked.push([tool, decision.approval, decision.reason])
        return true
      },
    })
    expect(await toolNames()).toEqual(expect.arrayContaining(['deploy_app', 'roll_back', 'skill', 'read_file']))
    expect(requests[0]?.system).toContain('- deploying: Does deploying.')
    expect(asked).toEqual([['deploy_app', 'ask', 'default: public/unknown/cli']])
    expect(session.history.filter(({ role }) => role === 'tool').map((message) => textOf(message))).toEqual([
      'deploy_app ran',
    ])
  })

  it('is granted by all, by its name, by the name of a tool, and not otherwise', async () => {
    const home = await homeWithPackages(deploy)
    const granted = async (...tools: readonly string[]) => (await chatIn(home, { tools })).toolNames()
    expect(await granted('deploy')).toEqual(['deploy_app', 'roll_back'])
    expect(await granted('roll_back', 'write_file')).toEqual(['write_file', 'roll_back'])
    expect(await granted('write_file')).toEqual(['write_file'])
    await expect(granted('deploi')).rejects.toThrow("there is no tool or category 'deploi'")
  })

  it('has skills that those of the user and of the project count over', async () => {
    const home = await homeWithPackages(deploy)
    await addFiles(home.skills, { 'deploying/SKILL.md': skillText('deploying', { description: 'My own way.' }) })
    const { requests, toolNames } = await chatIn(home)
    await toolNames()
    expect(requests[0]?.system).toContain('- deploying: My own way.')
  })

  it('in the project runs only where the folder is trusted', async () => {
    const home = await homeWith({
      'config/config.json': '{ "toolPackages": ["deploy"] }',
      'app/node_modules/deploy/package.json': manifest({ tools: './tools.js' }),
      'app/node_modules/deploy/tools.js': `globalThis.wasLoaded = true; ${moduleOf('deploy_app')}`,
    })
    const { notices, toolNames } = await chatIn(home)
    expect(await toolNames()).not.toContain('deploy_app')
    expect(globalThis).not.toHaveProperty('wasLoaded')
    expect(notices).toEqual([
      `The tool package deploy was left out: it lies in this folder, which is not trusted. Install it in ${join(home.folder, 'config')}, or put ${JSON.stringify(home.cwd)} into trustedFolders.`,
    ])
    await addFiles(home.folder, {
      'config/config.json': JSON.stringify({ toolPackages: ['deploy'], trustedFolders: [home.cwd] }),
    })
    expect(await (await chatIn(home)).toolNames()).toContain('deploy_app')
    Reflect.deleteProperty(globalThis, 'wasLoaded')
  })

  it('that a project names is ignored where the folder is not trusted, and loaded where it is', async () => {
    const home = await homeWith({ 'app/.entia/config.json': '{ "toolPackages": ["./tools"] }' })
    await addFiles(home.cwd, {
      'tools/package.json': manifest({ tools: './x.js' }),
      'tools/x.js': moduleOf('deploy_app'),
    })
    const untrusted = await chatIn(home)
    expect(untrusted.notices.join()).toContain('.entia/config.json:1:3: toolPackages')
    expect(await untrusted.toolNames()).not.toContain('deploy_app')
    await addFiles(home.folder, { 'config/config.json': JSON.stringify({ trustedFolders: [home.cwd] }) })
    expect(await (await chatIn(home)).toolNames()).toContain('deploy_app')
  })
})

describe('tool packages that cannot be used', () => {
  it('are all named at once, each with the file, what was expected and what was found', async () => {
    const toolPackages = [
      ...[
        'missing',
        'a/b',
        'bare',
        'broken',
        'outside',
        'throws',
        'number',
        'untold',
        'clash',
        'one',
        'two',
        'no-skills',
      ],
    ]
    const home = await homeWithPackages(
      {
        'bare/package.json': '{ "name": "bare" }',
        'broken/package.json': '{',
        'outside/package.json': manifest({ tools: './../clash/x.js', tool: 1 }),
        'throws/package.json': manifest({ tools: './x.js' }),
        'throws/x.js': "throw new Error('no such thing')",
        'number/package.json': manifest({ tools: './x.js' }),
        'number/x.js': 'export const tools = 5',
        'untold/package.json': manifest({ tools: './x.js' }),
        'untold/x.js': "export default [() => 1, { declaration: { name: 'a b' }, call() {} }]",
        'clash/package.json': manifest({ tools: './x.js' }),
        'clash/x.js': moduleOf('read_file', 'skill', 'subagent'),
        'one/package.json': manifest({ tools: './x.js' }),
        'one/x.js': moduleOf('same'),
        'two/package.json': manifest({ tools: './x.js' }),
        'two/x.js': moduleOf('same'),
        'no-skills/package.json': manifest({ skills: './skills' }),
      },
      { toolPackages },
    )
    const { code, message } = await refusal(home)
    expect(code).toBe('config-invalid')
    const folder = join(home.folder, 'config/node_modules')
    expect(message.split('\n')).toEqual([
      'toolPackages: these packages cannot be used:',
      `- missing: there is no such package with a package.json, seen from ${home.cwd} or ${join(home.folder, 'config')}. Install it in one of them.`,
      '- a/b: expected the name of a package, or a path that begins with ./, / or ~.',
      `- bare: ${folder}/bare/package.json: entia: expected an object { tools, skills }.`,
      expect.stringContaining('- broken: there is no such package with a package.json'),
      expect.stringContaining(
        'outside/package.json: entia.tools: expected a path to a module in the package that begins with ./; entia.tool: no such field is known.',
      ),
      `- throws: ${folder}/throws/x.js: expected a module that loads, got no such thing`,
      `- number: ${folder}/number/x.js: expected a list of tools as its default export or as tools, got 5.`,
      expect.stringMatching(/^- untold: .*x\.js: \[0\]: expected a tool; make one with defineTool, got /),
      expect.stringMatching(/^- untold: .*x\.js: \[1\]: name: .*; description: expected string/),
      `- no-skills: ${folder}/no-skills/package.json: entia.skills: expected a folder in the package, got ./skills.`,
      "- clash: 'read_file' is the name of a built-in tool or category; expected another name.",
      "- clash: 'skill' is the name of a built-in tool or category; expected another name.",
      "- clash: 'subagent' is the name of a built-in tool or category; expected another name.",
      "- two: 'same' is the name of a tool of one; expected another name.",
    ])
  })

  it('have their module and skills in them, links followed', async () => {
    const home = await homeWithPackages({ 'deploy/package.json': manifest({ tools: './x.js', skills: './skills' }) })
    await addFiles(home.folder, {
      'elsewhere/x.js': moduleOf('deploy_app'),
      'elsewhere/skills/a/SKILL.md': skillText('a'),
    })
    const folder = join(home.folder, 'config/node_modules/deploy')
    await mkdir(folder, { recursive: true })
    await symlink(join(home.folder, 'elsewhere/x.js'), join(folder, 'x.js'))
    await symlink(join(home.folder, 'elsewhere/skills'), join(folder, 'skills'))
    const { message } = await refusal(home)
    expect(message).toContain('x.js: expected a module in the package, got none.')
    expect(message).toContain('entia.skills: expected a folder in the package, got ./skills.')
  })
})
