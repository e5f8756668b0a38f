import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { realClock, type ScriptedReply, SubagentRegistry, textOf } from 'entia'
import {
  type ApprovalCall,
  type ApproveCall,
  builtinTools,
  type ChatSession,
  type NewSessionOptions,
  turn,
} from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { rejection } from '../../behaviour/turns/driving.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { chatting } from './chatting.ts'

const writing = (path: string) => ({ name: 'write_file', arguments: { path, content: 'x' } })
const running = (command: string) => ({ name: 'bash', arguments: { command } })

/** A chat session in a folder that is code, with the tools for files and the shell. */
async function working(replies: readonly ScriptedReply[], options: NewSessionOptions = {}) {
  const folder = await tempFolder({ 'a.ts': '1\n' })
  const tools = builtinTools({ cwd: folder, tools: ['file', 'code'] })
  const home = join(folder, 'home')
  return { folder, ...chatting(replies, { cwd: folder, home, tools, host: { clock: realClock }, ...options }) }
}

function results(session: ChatSession): readonly string[] {
  return session.history.filter(({ role }) => role === 'tool').map((message) => textOf(message))
}

async function isThere(folder: string, name: string): Promise<boolean> {
  return access(join(folder, name)).then(
    () => true,
    () => false,
  )
}

/** A function that gives what it must not. */
function answering(value: unknown): ApproveCall {
  return () => value as boolean
}

describe('a call that the policy asks about', () => {
  it('says which subagent calls', async () => {
    const asked: (string | undefined)[] = []
    const { session } = await working(
      [
        { toolCalls: [{ name: 'subagent', arguments: { category: 'digger', prompt: 'Run it', background: false } }] },
        { toolCalls: [running('touch b.ts')] },
        'Ran it.',
        { toolCalls: [running('touch c.ts')] },
        'Done.',
      ],
      { approve: (call) => asked.push(call.by) > 0 },
    )
    const digger = { name: 'digger', model: 'script/m', tools: ['bash'] }
    session.world.add(session.agent, SubagentRegistry({ subagents: { digger } }))
    await turn('Go.', session)
    expect(asked).toEqual(['subagent digger', undefined])
  })

  it('is put to a person with what is known of it, and runs after a yes', async () => {
    const asked: unknown[] = []
    const approve: ApproveCall = (call, decision, { signal }) => {
      asked.push(call, decision, signal.aborted)
      return true
    }
    const { folder, session } = await working([{ toolCalls: [running('touch b.ts')] }, 'Done.'], { approve })
    await turn('Go.', session)
    expect(asked).toEqual([
      {
        ...{ id: 'call-1-0', tool: 'bash', arguments: { command: 'touch b.ts' }, channel: 'cli' },
        ...{ paths: [], urls: [], dataClass: 'code', operation: 'exec', mayRemember: true },
        approval: expect.stringMatching(/^approval-/) as string,
        commandStart: 'touch b.ts',
        rule: { command: 'touch b.ts', places: ['project'] },
      } satisfies ApprovalCall,
      { model: 'cloud', approval: 'ask', reason: 'default: code/exec/cli' },
      false,
    ])
    expect(await isThere(folder, 'b.ts')).toBe(true)
  })

  it.each<readonly [string, ApproveCall | undefined, string]>([
    ['there is nobody to ask', undefined, 'no approval channel (default: code/write/cli)'],
    ['asking throws', () => Promise.reject(new Error('no terminal')), 'asking failed: no terminal'],
    ['the answer is a no', () => false, 'default: code/write/cli'],
    ['the answer is a no with a reason', () => ({ approved: false, reason: 'later' }), 'later'],
    ['the answer is a text', answering('yes'), "approve() must give true, false or { approved }, got 'yes'"],
    [
      'what is to be remembered is none of what can be',
      answering({ approved: true, remember: 'forever' }),
      "approve() must give remember 'session' or 'command', got 'forever'",
    ],
    ['the answer is an object', answering({}), 'approve() must give true, false or { approved }, got an object'],
  ])('does not run where %s', async (_, approve, reason) => {
    const { folder, session } = await working([{ toolCalls: [writing('b.ts')] }, 'Done.'], { approve })
    expect(await turn('Go.', session)).toMatchObject({ stop: 'done' })
    expect(results(session)).toEqual([`[user declined: ${reason}]`])
    expect(await isThere(folder, 'b.ts')).toBe(false)
  })

  it('ends the turn where the person stops it, and later calls do not run', async () => {
    const { session } = await working([{ toolCalls: [writing('b.ts'), writing('c.ts')] }, 'Well.'], {
      approve: () => ({ approved: false, reason: 'not now', stopTurn: true }),
    })
    expect(await turn('Go.', session)).toMatchObject({ stop: 'declined', reply: '[turn stopped]', steps: 1 })
    expect(results(session)).toEqual(['[user declined: not now]', '[not run: the turn was stopped]'])
    expect(textOf(session.history.at(-1))).toBe('[turn stopped]')
    expect(await turn('And now?', session)).toMatchObject({ stop: 'done', reply: 'Well.' })
  })

  it('is asked about once where the answer is remembered for the chat session', async () => {
    let asked = 0
    const { session } = await working([{ toolCalls: [writing('b.ts')] }, { toolCalls: [writing('c.ts')] }, 'Done.'], {
      approve: () => {
        asked++
        return { approved: true, remember: 'session' }
      },
    })
    await turn('Go.', session)
    expect(asked).toBe(1)
    expect(results(session)).toHaveLength(2)
  })

  it('is not asked about where the chat session is given a permission meanwhile', async () => {
    const replies = [{ toolCalls: [writing('b.ts')] }, 'Done.', { toolCalls: [writing('b.ts')] }, 'Done.']
    const { folder, session } = await working(replies)
    await session.setPermission('write_file', 'allow')
    await turn('Go.', session)
    expect(await isThere(folder, 'b.ts')).toBe(true)
    await session.setPermission('write_file', 'deny')
    await turn('Go.', session)
    expect(results(session).at(-1)).toBe('[entia policy denied: configured: write_file]')
    expect(await rejection(session.setPermission('write_file', 'maybe' as never))).toMatchObject({
      code: 'invalid-argument',
    })
  })

  it('may be answered by a function of the program before any person', async () => {
    const { folder, session } = await working([{ toolCalls: [writing('b.ts')] }, 'Done.'], {
      policyFunction: ({ tool }) =>
        tool === 'write_file' ? { model: 'cloud', approval: 'allow', reason: 'a test' } : undefined,
    })
    await turn('Go.', session)
    expect(await isThere(folder, 'b.ts')).toBe(true)
  })
})

describe('plan mode', () => {
  const leaving = { name: 'exit_plan_mode', arguments: { plan: 'Write b.ts.' } }

  it('changes nothing until a plan is approved, and the beginning of the requests stays the same', async () => {
    const calls = [writing('b.ts'), running('touch b.ts'), { name: 'read_file', arguments: { path: 'a.ts' } }]
    const { folder, requests, session } = await working(
      [{ toolCalls: calls }, { toolCalls: [leaving] }, { toolCalls: [writing('b.ts')] }, 'Done.'],
      { planMode: true, approve: () => true },
    )
    const broken: unknown[] = []
    session.runner.on('prefix-broken', (event) => broken.push(event))
    expect(session.planMode).toBe(true)
    await turn('Go.', session)
    expect(results(session).slice(0, 2)).toEqual([
      '[entia policy denied: plan mode]',
      '[entia policy denied: plan mode]',
    ])
    expect(results(session)[2]).toContain('1')
    expect(session.planMode).toBe(false)
    expect(await isThere(folder, 'b.ts')).toBe(true)
    expect(broken).toEqual([])
    expect(requests.at(-1)?.tools).toEqual(requests[0]?.tools)
  })

  it('stays where the plan is refused', async () => {
    const { session } = await working([{ toolCalls: [leaving] }, { toolCalls: [writing('b.ts')] }, 'Done.'], {
      planMode: true,
      approve: () => false,
    })
    await turn('Go.', session)
    expect(session.planMode).toBe(true)
    expect(results(session).at(-1)).toBe('[entia policy denied: plan mode]')
  })

  it('can be switched on and off between turns', async () => {
    const replies = [{ toolCalls: [writing('b.ts')] }, 'Done.', { toolCalls: [writing('b.ts')] }, 'Done.']
    const { folder, session } = await working(replies, { approve: () => true })
    await session.setPlanMode(true)
    await turn('Go.', session)
    expect(await isThere(folder, 'b.ts')).toBe(false)
    await session.setPlanMode(false)
    await turn('Go.', session)
    expect(await isThere(folder, 'b.ts')).toBe(true)
  })
})
