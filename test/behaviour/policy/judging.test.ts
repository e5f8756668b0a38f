import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Approve, memoryStore, Permissions, recordingOf, replay, standardSystems, VirtualClock } from 'entia'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { turns } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { call, homeWith, judged, settledCalls, steps } from './judged-agent.ts'

const { Inspection, Pending } = components

describe('a call of an agent with a policy', () => {
  it('runs where the table allows it', async () => {
    const home = await homeWith({ 'projects/app/a.ts': 'const a = 1\n' })
    const run = judged({ home, behaviour: steps([call('read_file', { path: '~/projects/app/a.ts' })]) })
    await run.settle()
    expect(transcript(run.world, run.agent)[2]).toContain('const a = 1')
    expect(settledCalls(run)).toMatchObject([
      {
        decision: { model: 'cloud', approval: 'allow', reason: 'default: code/read/cli' },
        outcome: 'ran',
        isError: false,
        paths: ['~/projects/app/a.ts'],
        dataClass: 'code',
        operation: 'read',
      },
    ])
    expectValid(run.world, run.agent)
  })

  it.for([
    ['cli', 1, false],
    ['console', 0, true],
    ['matrix', 1, false],
  ] as const)('that writes code on %s is asked about %i times', async ([channel, count, isWritten]) => {
    const home = await homeWith()
    const asked: string[] = []
    const approve: Approve = ({ decision }) => asked.push(decision?.reason ?? '') < 0
    const behaviour = steps([call('write_file', { path: 'b.ts', content: 'b' })])
    const run = judged({ home, behaviour, channel, approve })
    await run.settle()
    expect(asked).toEqual(Array.from({ length: count }, () => `default: code/write/${channel}`))
    expect(existsSync(join(run.cwd, 'b.ts'))).toBe(isWritten)
  })

  it('that is denied does not run, and the model reads why', async () => {
    const home = await homeWith({ 'Documents/x': 'before' })
    const behaviour = steps([call('write_file', { path: '~/Documents/x', content: 'after' })])
    const run = judged({ home, behaviour, channel: 'matrix', approve: () => true })
    await run.settle()
    expect(transcript(run.world, run.agent)[2]).toBe(
      'tool call-1-0!: [entia policy denied: default: personal/write/matrix]',
    )
    expect(run.told('tool-called')).toEqual([])
    expect(run.told('approval-requested')).toEqual([])
  })

  it('that leads to a credential by a link is asked about, whatever a config and the policy function say', async () => {
    const home = await homeWith({ '.ssh/id_rsa': 'secret', 'projects/app/a.ts': '' })
    await symlink(join(home, '.ssh'), join(home, 'projects/app/k'))
    const run = judged({
      home,
      behaviour: steps([call('read_file', { path: 'k/id_rsa' })]),
      config: { permissions: { read_file: 'allow' }, approvalMode: 'allow', dangerousTools: [] },
      policy: () => ({ approval: 'allow' }),
      approve: ({ decision, dataClass, mayRemember }) => {
        expect({ dataClass, mayRemember }).toEqual({ dataClass: 'credential', mayRemember: false })
        return { approved: false, reason: `${decision?.model} ${decision?.approval}: ${decision?.reason}` }
      },
    })
    await run.settle()
    expect(transcript(run.world, run.agent)[2]).toBe(
      'tool call-1-0!: [user declined: local ask: credential path: k/id_rsa]',
    )
  })

  it('is told once it is settled: allowed, denied, declined, unknown and with wrong arguments', async () => {
    const home = await homeWith({ 'projects/app/a.ts': 'a' })
    const behaviour = steps([
      call('read_file', { path: 'a.ts' }),
      call('read_file', { path: 'secret/b' }),
      call('write_file', { path: 'c.ts', content: '' }),
      call('nothing'),
      call('read_file', { file: 'a.ts' }),
    ])
    const config = { deniedPaths: ['~/projects/app/secret'] }
    const run = judged({ home, behaviour, config, approve: () => false })
    await run.settle()
    const told = settledCalls(run)
    expect(told.map(({ outcome }) => outcome)).toEqual(['ran', 'deny', 'declined', 'ran', 'ran'])
    expect(told.map(({ isError }) => isError)).toEqual([false, true, true, true, true])
    expect(told.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5])
    expect(told.map(({ result }) => result)).toEqual([
      '1\ta',
      '[entia policy denied: denied path: ~/projects/app/secret]',
      '[user declined: default: code/write/cli]',
      'Error: there is no tool named nothing.',
      expect.stringContaining("Invalid arguments for 'read_file'"),
    ])
    expect(told[3]?.decision).toEqual({ model: 'cloud', approval: 'allow', reason: 'no policy applies' })
  })

  it('is told as cancelled when the turn is, and its time counts from the request', async () => {
    const home = await homeWith()
    const behaviour = steps([call('write_file', { path: 'c.ts', content: '' }), call('slow')])
    const slow = tool('slow', ({ sleep }) => sleep(5_000), { operation: 'read' })
    const run = judged({ home, behaviour, tools: [slow], approve: 'by-input' })
    const asked = run.next('approval-requested')
    await run.runner.start()
    await asked
    await run.runner.post({ kind: 'cancel', agent: run.agent })
    await run.runner.idle()
    expect(settledCalls(run)).toMatchObject([
      { tool: 'write_file', outcome: 'cancelled', result: '[cancelled by the user]' },
      { tool: 'slow', outcome: 'cancelled', result: '[cancelled by the user]' },
    ])
  })

  it('takes the time of the call and of the answer', async () => {
    const home = await homeWith()
    const slow = tool('slow', ({ sleep }) => sleep(5_000).then(() => 'slept'), { operation: 'read', category: 'x' })
    const run = judged({ home, behaviour: steps([call('slow')]), tools: [slow] })
    await run.settle()
    expect(settledCalls(run)).toMatchObject([{ elapsedMs: 5_000, outcome: 'ran' }])
  })

  it('is told when it ends, with its own time, also behind one that takes longer or is asked about', async () => {
    const home = await homeWith()
    const options = { operation: 'read', category: 'x' } as const
    const slow = tool('slow', ({ sleep }) => sleep(5_000).then(() => 'slept'), options)
    const quick = tool('quick', ({ sleep }) => sleep(10).then(() => 'quick'), options)
    const asks = call('write_file', { path: 'd.ts', content: '' })
    const behaviour = steps([call('slow'), asks, call('quick'), call('nothing')])
    const clock = new VirtualClock()
    const run = judged({ home, behaviour, tools: [slow, quick], host: { clock }, approve: 'by-input' })
    run.runner.on('call-settled', ({ tool: name }) => {
      const [approval] = run.told('approval-requested')
      if (name === 'slow' && approval !== undefined)
        void run.runner.post({ kind: 'answer', approval: approval.approval, approved: false })
    })
    await run.settle()
    expect(
      run.told('call-settled').map(({ elapsedMs, number, outcome, tool: name }) => [name, number, elapsedMs, outcome]),
    ).toEqual([
      ['nothing', 4, 0, 'ran'],
      ['quick', 3, 10, 'ran'],
      ['slow', 1, 5_000, 'ran'],
      ['write_file', 2, 5_000, 'declined'],
    ])
    expectValid(run.world, run.agent)
  })

  it('is asked about as exec when its repository has git run programs', async () => {
    const home = await homeWith()
    const cwd = join(home, 'projects/app')
    execFileSync('git', ['init', '-q'], { cwd })
    execFileSync('git', ['config', 'filter.x.clean', 'touch ran'], { cwd })
    const run = judged({ home, behaviour: steps([call('git_status')]), approve: () => false })
    await run.settle()
    expect(settledCalls(run)).toMatchObject([
      { operation: 'exec', decision: { approval: 'ask', reason: 'default: code/exec/cli' } },
    ])
  })

  it('with more paths than are looked for is asked about as opaque', async () => {
    const home = await homeWith()
    const words = Array.from({ length: 1_100 }, (_, at) => `x${at}`)
    const run = judged({
      home,
      behaviour: steps([call('bash', { command: `ls ${words.join(' ')}` })]),
      channel: 'console',
      approve: () => false,
    })
    await run.settle()
    expect(settledCalls(run)[0]?.decision.reason).toMatch(/^opaque command: ls x0/)
  })

  it('of a tool that needs an approval by itself is asked about at least', async () => {
    const home = await homeWith()
    const careful = tool('careful', () => 'done', { approval: true, operation: 'read' })
    const run = judged({ home, behaviour: steps([call('careful')]), tools: [careful], approve: () => false })
    await run.settle()
    expect(transcript(run.world, run.agent)[2]).toBe('tool call-1-0!: [user declined: needs approval: careful]')
  })

  it('asks for what the agent may not run at all as little as before', async () => {
    const home = await homeWith()
    const run = judged({ home, behaviour: steps([call('bash', { command: 'ls' })]) })
    run.world.add(run.agent, Permissions({ denied: ['bash'] }))
    await run.settle()
    expect(transcript(run.world, run.agent)[2]).toBe("tool call-1-0!: Error: tool 'bash' is not permitted.")
  })
})

describe("the Host's policy function", () => {
  it('answers instead of the table', async () => {
    const home = await homeWith()
    const policy = ({ tool: name }: { tool: string }) =>
      name === 'bash' ? { approval: 'deny' as const, reason: 'no shell today' } : undefined
    const behaviour = steps([call('bash', { command: 'ls' }), call('list_files')])
    const run = judged({ home, behaviour, policy, channel: 'console' })
    await run.settle()
    expect(transcript(run.world, run.agent)[2]).toBe('tool call-1-0!: [entia policy denied: no shell today]')
    expect(settledCalls(run)[1]).toMatchObject({ outcome: 'ran', decision: { reason: 'default: code/read/console' } })
  })

  it.for([
    [
      'throws',
      () => {
        throw new Error('no idea')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no idea'))],
    ['gives nonsense', () => 'yes' as never],
  ] as const)('that %s has a person asked', async ([, policy]) => {
    const home = await homeWith()
    const run = judged({ home, behaviour: steps([call('list_files')]), policy, approve: () => false })
    await run.settle()
    expect(transcript(run.world, run.agent)[2]).toBe('tool call-1-0!: [user declined: policy function failed]')
  })

  it('that never answers has the call denied in the end', async () => {
    const home = await homeWith()
    const policy = () => new Promise<never>(() => undefined)
    const clock = new VirtualClock({ auto: false })
    const run = judged({ home, behaviour: steps([call('list_files')]), policy, host: { clock } })
    await run.runner.start()
    // Its inspection begins once the model has replied, and then looks at the disk.
    while (!run.world.query(Inspection).some((effect) => run.world.has(effect, Pending))) await turns(1)
    await turns(20)
    clock.advance(60_000)
    await run.runner.idle()
    expect(transcript(run.world, run.agent)[2]).toMatch(
      /^tool call-1-0!: \[entia policy denied: the call could not be inspected: The inspect effect did not end within/,
    )
  })
})

describe('an agent whose policy is taken away while a call is inspected', () => {
  it('has the call denied', async () => {
    const home = await homeWith()
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<undefined>()
    const policy = () => (begun.resolve(), end.promise)
    const run = judged({ home, behaviour: steps([call('list_files')]), policy })
    await run.runner.start()
    await begun.promise
    await run.runner.change((world) => world.remove(run.agent, components.Policy))
    end.resolve(undefined)
    await run.runner.idle()
    expect(transcript(run.world, run.agent)[2]).toBe(
      'tool call-1-0!: [entia policy denied: there is no policy any more]',
    )
  })
})

describe('a Host without the effect that inspects', () => {
  it('has every call denied, with what to do', async () => {
    const home = await homeWith({ 'projects/app/a.ts': 'a' })
    const behaviour = steps([call('read_file', { path: 'a.ts' })])
    const run = judged({ home, behaviour, host: { effects: {} } })
    await run.settle()
    const [, , line] = transcript(run.world, run.agent)
    expect(line).toMatch(
      /^tool call-1-0!: \[entia policy denied: the call could not be inspected: .*Nothing on this host/,
    )
    expect(run.told('tool-called')).toEqual([])
  })

  it('has calls denied whose inspection gives no facts', async () => {
    const home = await homeWith()
    const inspect = { prepare: () => () => ({ ok: true as const, value: { facts: 5 } }) }
    const run = judged({ home, behaviour: steps([call('list_files')]), host: { effects: { inspect } } })
    await run.settle()
    expect(transcript(run.world, run.agent)[2]).toBe(
      'tool call-1-0!: [entia policy denied: the call could not be inspected: the inspection gave no facts]',
    )
  })
})

describe('a recorded run', () => {
  it('is replayed without an inspection and without the policy function', async () => {
    const home = await homeWith({ 'projects/app/a.ts': 'a' })
    const behaviour = steps([call('read_file', { path: 'a.ts' }), call('bash', { command: 'ls' })])
    const store = memoryStore()
    let asked = 0
    const run = judged({ home, behaviour, store, policy: () => void asked++, approve: () => true })
    await run.settle()
    await run.runner.stop()
    await rm(home, { recursive: true })
    const again = replay(await recordingOf(store, 'world'), { systems: standardSystems(), components })
    expect(again.difference).toBeUndefined()
    expect(asked).toBe(2)
  })
})
