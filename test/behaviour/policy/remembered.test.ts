import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type ApprovalQuestion, type Approve, type Json, memoryStore, SubagentRegistry, type Tool } from 'entia'
import { PolicyState } from 'entia/components'
import { policyEffects } from 'entia/runtime'
import { afterAll, describe, expect, it } from 'vitest'
import { behaving, reopened } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { call, homeWith, judged, settledCalls, steps } from './judged-agent.ts'

/** Says yes to all, and remembers the first answer. */
function rememberingFirst(remember: 'session' | 'command' = 'session') {
  const questions: ApprovalQuestion[] = []
  const approve: Approve = (question) => (questions.push(question), { approved: true, remember })
  const once: Approve = (question) => (questions.length === 0 ? approve(question) : (questions.push(question), false))
  return { approve: once, questions }
}

const files = { 'other/o': 'o', 'projects/b/x': 'x', 'projects/app/a': 'a' }
const write = (path: string) => call('write_file', { path, content: 'x' })

async function askedAfter(first: object, later: object, tools: readonly Tool[] = []) {
  const home = await homeWith(files)
  await symlink(join(home, '.bashrc'), join(home, 'projects/app/notes.md'))
  await symlink(join(home, 'other'), join(home, 'projects/app/out'))
  await mkdir(join(home, 'projects/app/.git/hooks'), { recursive: true })
  const { approve, questions } = rememberingFirst()
  const behaviour = steps([first as ReturnType<typeof call>], [later as ReturnType<typeof call>])
  const run = judged({ home, behaviour, approve, tools })
  await run.settle()
  expect(questions.length).toBeGreaterThan(0)
  return { home, questions, run, isAsked: questions.length === 2 }
}

afterAll(() =>
  Promise.all(['/tmp', '/var/tmp'].map((folder) => rm(`${folder}/entia-remembered`, { recursive: true, force: true }))),
)

describe('a yes for one file that is remembered', () => {
  it.for([
    ['a', 'src/deep/b.ts'],
    ['a', './.gitignore'],
    ['a', '.github/workflows/ci.yml'],
    ['/tmp/entia-remembered/a', '/var/tmp/entia-remembered/b'],
    ['~/other/a', '~/else/b'],
    ['~/projects/b/x', '~/projects/c/y'],
    ['out/a', '~/other/b'],
  ])('covers what lies in such places: %s, then %s', async ([first, later]) => {
    expect((await askedAfter(write(first as string), write(later as string))).isAsked).toBe(false)
  })

  it.for([
    ['a', '~/.bashrc'],
    ['a', '~/.profile'],
    ['a', '../../.zshrc'],
    ['a', 'notes.md'],
    ['a', 'out/a'],
    ['a', '~/.config/autostart/x.desktop'],
    ['a', '~/.config/systemd/user/x.service'],
    ['a', '~/Library/LaunchAgents/x.plist'],
    ['a', '~/bin/git'],
    ['a', '~/.local/bin/git'],
    ['a', '~/.vimrc'],
    ['a', '.git/hooks/pre-commit'],
    ['a', '.git/info/attributes'],
    ['a', 'sub/.git/hooks/post-checkout'],
    ['a', '.husky/pre-push'],
    ['a', '.vscode/tasks.json'],
    ['a', '.entia/config.json'],
    ['a', '.mcp.json'],
    ['a', '/etc/cron.d/x'],
    ['a', '/usr/local/bin/x'],
    ['a', '/var/spool/cron/x'],
    ['a', '/tmp/entia-remembered/x'],
    ['a', '~/other/x'],
    ['a', '~/projects/b/x'],
    ['a', '/mnt/disk/x'],
    ['/tmp/entia-remembered/a', 'a'],
    ['/tmp/entia-remembered/a', '~/.bashrc'],
    ['~/other/a', 'a'],
    ['~/other/a', '~/.bashrc'],
    ['~/other/a', '/etc/hosts'],
    ['~/projects/b/x', '~/projects/b/.git/hooks/pre-commit'],
    ['~/projects/b/x', 'a'],
    ['~/.bashrc', '~/.bashrc'],
    ['.git/hooks/pre-commit', '.git/hooks/pre-commit'],
  ])('covers no other place: %s, then %s', async ([first, later]) => {
    expect((await askedAfter(write(first as string), write(later as string))).isAsked).toBe(true)
  })

  it.for<[string, Json, Json, boolean]>([
    ['edit', { path: 'a' }, { path: 'b' }, false],
    ['edit', { path: 'a' }, { path: '~/.bashrc' }, true],
    ['move', { source: 'a', destination: 'b' }, { source: 'b', destination: 'c' }, false],
    ['move', { source: 'a', destination: 'b' }, { source: 'a', destination: '~/.profile' }, true],
    ['move', { from: 'a', to: 'b' }, { from: 'a', to: '../../other/x' }, true],
    ['remove', { paths: ['a'] }, { paths: ['a', '~/.zshrc'] }, true],
    ['remove', { file_path: 'a' }, { file_path: '~/.zshrc' }, true],
    ['patch', { edits: [{ path: 'a' }] }, { edits: [{ path: 'a' }, { path: '~/.zshrc' }] }, true],
    ['patch', { edits: [{ path: 'a' }] }, { edits: [{ path: 'a' }, { path: 'b' }] }, false],
    ['open', { uri: 'file:///tmp/x' }, { uri: 'file:///etc/x' }, true],
    ['say', { text: 'a' }, { text: '~/.bashrc' }, false],
    ['say', { text: 'a' }, { path: '~/.bashrc' }, true],
  ])(
    'counts the same for a tool that says nothing of its paths: %s %j, then %j',
    async ([name, first, later, asks]) => {
      const anyPath = tool(name, () => 'done')
      const given = (value: Json) => call(name, value as Readonly<Record<string, Json>>)
      expect((await askedAfter(given(first), given(later), [anyPath])).isAsked).toBe(asks)
    },
  )

  it('is not noted where it covers nothing', async () => {
    const { questions, run } = await askedAfter(write('~/.bashrc'), write('~/.bashrc'))
    expect(questions.map(({ mayRemember }) => mayRemember)).toEqual([false, false])
    expect(run.world.get(run.agent, PolicyState)?.remembered).toBeUndefined()
  })

  it('covers the project alone where it was saved without its places', async () => {
    const home = await homeWith(files)
    const { approve, questions } = rememberingFirst()
    const remembered = PolicyState({ calls: 0, remembered: [{ tool: 'write_file' }] })
    const behaviour = steps([write('a')], [write('/tmp/entia-remembered/a')])
    const run = judged({ home, behaviour, approve, parts: [remembered] })
    await run.settle()
    expect(questions.map(({ paths }) => paths)).toEqual([['/tmp/entia-remembered/a']])
  })

  it('covers no more after the chat was stored and restored', async () => {
    const home = await homeWith(files)
    const store = memoryStore()
    const { approve, questions } = rememberingFirst()
    const behaviour = steps([write('a')], [], [write('b')], [write('~/.bashrc')])
    const run = judged({ home, behaviour, approve, store })
    await run.settle()
    await run.runner.stop()
    const { models } = behaving(behaviour)
    const tools = [...run.host.tools.values()]
    const again = await reopened(store, { models, tools, effects: { ...policyEffects() }, approve })
    await again.runner.start()
    await again.runner.message(run.agent, 'Go on')
    await again.runner.idle()
    expect(questions.map(({ paths }) => paths)).toEqual([['a'], ['~/.bashrc']])
  })

  it('of a subagent covers no more than one of its parent', async () => {
    const home = await homeWith(files)
    const { approve, questions } = rememberingFirst()
    const worker = steps([write('a')], [write('b')], [write('~/.bashrc')])
    const lead = steps([call('subagent', { category: 'worker', prompt: 'Write' })])
    const inherited = { inheritSystemPrompt: false, inheritTools: ['write_file'] }
    const run = judged({
      home,
      behaviour: (request, context) =>
        (request.system?.startsWith('You are the worker.') ? worker : lead)(request, context),
      parts: [
        SubagentRegistry({
          subagents: { worker: { name: 'worker', systemPrompt: 'You are the worker.', inheritancePolicy: inherited } },
        }),
      ],
      approve,
    })
    await run.settle()
    expect(questions.map(({ paths }) => paths)).toEqual([['a'], ['~/.bashrc']])
  })

  it('for the web covers no call that may carry away what was read elsewhere', async () => {
    const home = await homeWith(files)
    const { approve, questions } = rememberingFirst()
    const fetched = call('fetch_url', { url: 'http://127.0.0.1:9/' })
    const behaviour = steps([fetched], [fetched], [call('read_file', { path: '~/other/o' })], [fetched])
    const run = judged({ home, behaviour, approve, config: { permissions: { fetch_url: 'ask' } } })
    await run.settle()
    expect(questions).toHaveLength(2)
    expect(settledCalls(run).map(({ outcome }) => outcome)).toEqual(['ran', 'ran', 'ran', 'declined'])
  })
})

describe('a question about a path that is a link', () => {
  it('says where it leads', async () => {
    const { home, questions, run } = await askedAfter(write('a'), write('notes.md'))
    expect(questions[1]?.leadsTo).toEqual({ 'notes.md': join(home, '.bashrc') })
    expect(questions[0]?.leadsTo).toBeUndefined()
    expect(run.told('approval-requested')[1]?.leadsTo).toEqual({ 'notes.md': join(home, '.bashrc') })
  })
})
