import { join } from 'node:path'
import { defineTool, type Json } from 'entia'
import { type ApprovalCall, type ApproveCall, sessionSetup } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { allowAlways } from '../../../src/runtime/config/allow-always.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { script } from './chatting.ts'

type Call = readonly [tool: string, given: Readonly<Record<string, Json>>]

const bash = (command: string): Call => ['bash', { command }]
const write = (path: string): Call => ['write_file', { path, content: 'x' }]
const say = (text: string): Call => ['say', { text }]

const sayTool = (approval: boolean) =>
  defineTool({
    name: 'say',
    description: 'Says it.',
    input: z.looseObject({}),
    restart: 'pure',
    approval,
    run: () => 'said',
  })

async function home() {
  const folder = await tempFolder({ 'app/a.ts': '1\n', 'other/a.ts': '1\n', 'notes/x': 'x' })
  const [cwd, other, config] = ['app', 'other', 'config'].map((name) => join(folder, name)) as [string, string, string]
  const env = { HOME: folder, ENTIA_CONFIG_DIR: config, ENTIA_DATA_DIR: join(folder, 'data') }
  return { cwd, other, config, env }
}

/** The calls that a new chat asks about. */
async function askedIn(
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
  calls: readonly Call[],
  { answer = false, needsApproval = false }: { answer?: boolean; needsApproval?: boolean } = {},
): Promise<readonly ApprovalCall[]> {
  const asked: ApprovalCall[] = []
  const approve: ApproveCall = (call) => (asked.push(call), answer)
  const replies = [...calls.map(([name, given]) => ({ toolCalls: [{ name, arguments: given }] })), 'Done.']
  const session = await sessionSetup({
    ...{ cwd, env, approve, sandbox: 'off', store: false, provider: 'script', model: 'm' },
    tools: ['file', 'code', 'js', sayTool(needsApproval)],
    host: { models: script(replies).models },
  })
  onTestFinished(() => session.close())
  expect(await session.turn('Go.')).toMatchObject({ stop: 'done' })
  return asked
}

/** Answers `always` to the first call, and says whether a new chat asks about the later one. */
async function isAskedAfter(first: Call, later: Call, needsApproval = false): Promise<boolean> {
  const place = await home()
  const [call] = await askedIn(place, [first], { needsApproval })
  if (call?.rule === undefined) throw new Error('No rule is offered.')
  await allowAlways(call.tool, { ...call.rule, folder: place.cwd }, place.config)
  return (await askedIn(place, [later], { needsApproval })).length === 1
}

describe('a call that is always allowed', () => {
  it.for<[Call, Call]>([
    [write('src/a.ts'), write('src/b.ts')],
    [write('~/notes/a'), write('~/else/b')],
    [bash('touch a.ts'), bash('touch a.ts')],
    [bash('touch a.ts'), bash('touch a.ts b.ts')],
    [bash('touch ~/notes/y'), bash('touch ~/notes/y ~/notes/z')],
    [say('a'), say('b')],
  ])('is not asked about in a new chat, nor are those of its kind: %j, then %j', async ([first, later]) => {
    expect(await isAskedAfter(first, later)).toBe(false)
  })

  it.for<[Call, Call]>([
    [write('src/a.ts'), write('~/notes/a')],
    [write('src/a.ts'), write('/tmp/entia-always/a')],
    [write('~/notes/a'), write('src/a.ts')],
    [write('src/a.ts'), write('.git/hooks/pre-commit')],
    [write('src/a.ts'), ['replace_in_file', { path: 'a.ts', old: '1', new: '2' }]],
    [bash('touch a.ts'), bash('touch -m a.ts')],
    [bash('touch a.ts'), bash('touch b.ts')],
    [bash('touch a.ts'), bash('touch a.ts ~/notes/x')],
    [bash('touch a.ts'), bash('touch a.ts; ls')],
    [bash('touch a.ts'), bash('touch a.ts > b.ts')],
    [bash('touch a.ts'), bash('mkdir b')],
    [say('a'), ['say', { path: '~/notes/x' }]],
  ])('lets no call of another kind run without a question: %j, then %j', async ([first, later]) => {
    expect(await isAskedAfter(first, later)).toBe(true)
  })

  it('is not asked about either where its tool declares that it needs an approval', async () => {
    expect(await isAskedAfter(say('a'), say('b'), true)).toBe(false)
    expect(await isAskedAfter(say('a'), ['say', { path: '~/notes/x' }], true)).toBe(true)
  })

  it('is asked about in chats of another folder, unless the rule names none', async () => {
    const place = await home()
    const [call] = await askedIn(place, [write('a')])
    await allowAlways('write_file', { ...call?.rule, folder: place.cwd }, place.config)
    expect(await askedIn({ ...place, cwd: place.other }, [write('a')])).toHaveLength(1)
    await allowAlways('write_file', { ...call?.rule }, place.config)
    expect(await askedIn({ ...place, cwd: place.other }, [write('a')])).toHaveLength(0)
  })

  it.for<Call>([
    bash('ls | wc -l'),
    bash('rm a.ts'),
    bash('A=1 touch a.ts'),
    bash('curl x | sh'),
    write('.git/hooks/pre-commit'),
    write('~/.bashrc'),
    ['run_js', { code: '1' }],
  ])('is not offered where no rule says what it covers: %j', async (call) => {
    const asked = await askedIn(await home(), [call])
    expect(asked.map(({ rule }) => rule)).toEqual([undefined])
  })
})
