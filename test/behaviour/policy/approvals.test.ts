import { existsSync } from 'node:fs'
import { readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type ApprovalQuestion, type Approve, defineTool, LastTurn, memoryStore, type Tool } from 'entia'
import { Approval, Policy, PolicyState } from 'entia/components'
import { policyEffects } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { expectValid, transcript } from '../../transcript.ts'
import { behaving, reopened, turns } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { call, homeWith, judged, settledCalls, steps } from './judged-agent.ts'

const bash = (command: string) => call('bash', { command })
const asking = { config: { approvalMode: 'ask' as const } }

/** Answers with what is given for each question in turn, and keeps the questions. */
function answering(...answers: readonly Awaited<ReturnType<Approve>>[]) {
  const questions: ApprovalQuestion[] = []
  const approve: Approve = (question) => {
    questions.push(question)
    return answers[questions.length - 1] ?? false
  }
  return { approve, questions }
}

describe('a question about a judged call', () => {
  it('says what the decision rests on, and what an answer may be remembered for', async () => {
    const home = await homeWith()
    const { approve, questions } = answering(false)
    const run = judged({ home, behaviour: steps([bash('npm run lint -- --fix')]), approve, ...asking })
    await run.settle()
    const asked = {
      tool: 'bash',
      arguments: { command: 'npm run lint -- --fix' },
      callId: 'call-1-0',
      decision: { model: 'cloud', approval: 'ask', reason: 'default: code/exec/cli' },
      dataClass: 'code',
      operation: 'exec',
      paths: [],
      mayRemember: true,
      commandStart: 'npm run lint -- --fix',
    }
    expect(questions).toMatchObject([asked])
    expect(run.told('approval-requested')).toMatchObject([asked])
  })

  it.for<[string, Approve | undefined, string]>([
    ['there is no callback', undefined, 'no approval channel (default: code/write/cli)'],
    ['it says no', () => false, 'default: code/write/cli'],
    ['it says no and why', () => ({ approved: false, reason: 'not now' }), 'not now'],
    ['it gives a text', () => 'yes' as never, 'default: code/write/cli'],
    [
      'it throws',
      () => {
        throw new Error('no paper')
      },
      'asking failed: no paper',
    ],
  ])('is a no when %s', async ([, approve, reason]) => {
    const home = await homeWith()
    const behaviour = steps([call('write_file', { path: 'a', content: '' })])
    const run = judged({ home, behaviour, ...(approve && { approve }) })
    await run.settle()
    expect(existsSync(join(run.cwd, 'a'))).toBe(false)
    expect(transcript(run.world, run.agent)[2]).toBe(`tool call-1-0!: [user declined: ${reason}]`)
    expect(settledCalls(run)).toMatchObject([{ outcome: 'declined' }])
    expect(run.world.read(run.agent, LastTurn).stop).toBe('done')
  })

  it('that stops the turn leaves the other calls unrun', async () => {
    const home = await homeWith()
    const { approve, questions } = answering({ approved: false, reason: 'not now', stopTurn: true }, true)
    const behaviour = steps([bash('touch a'), bash('touch b')])
    const run = judged({ home, behaviour, approve })
    await run.settle()
    expect(questions).toHaveLength(1)
    expect(transcript(run.world, run.agent).slice(2)).toEqual([
      'tool call-1-0!: [user declined: not now]',
      'tool call-1-1!: [not run: the turn was stopped]',
      'assistant: [turn stopped]',
    ])
    expect(run.world.read(run.agent, LastTurn).stop).toBe('declined')
    expect(settledCalls(run).map(({ outcome }) => outcome)).toEqual(['declined', 'cancelled'])
    expectValid(run.world, run.agent)
    await run.runner.post({
      kind: 'message',
      agent: run.agent,
      message: { role: 'user', content: [{ type: 'text', text: 'Go on' }] },
    })
    await run.runner.idle()
    expect(run.world.read(run.agent, LastTurn).stop).toBe('done')
  })

  it('that stops the turn says of a call under way that it may have taken effect', async () => {
    const home = await homeWith()
    const begun = Promise.withResolvers<void>()
    const slow = tool('slow', ({ sleep }) => (begun.resolve(), sleep(60_000)), { restart: 'once', operation: 'read' })
    const approve: Approve = async () => {
      await begun.promise
      return { approved: false, stopTurn: true }
    }
    const run = judged({ home, behaviour: steps([call('slow'), bash('touch b')]), approve, tools: [slow] })
    await run.settle()
    expect(transcript(run.world, run.agent).slice(2)).toEqual([
      'tool call-1-0!: [the turn was stopped; it may have taken effect]',
      'tool call-1-1!: [user declined: default: code/exec/cli]',
      'assistant: [turn stopped]',
    ])
    expectValid(run.world, run.agent)
  })

  it('is about the file that was judged: a link that changes meanwhile has the call give up', async () => {
    const home = await homeWith({ 'Documents/diary': 'before', 'projects/app/a': 'a', 'projects/app/b': 'b' })
    const [a, b] = ['a', 'b'].map((name) => join(home, 'projects/app', name)) as [string, string]
    await rm(b)
    await symlink(a, b)
    const approve: Approve = async ({ arguments: given }) => {
      if (given['path'] === 'a') {
        await rm(a)
        await symlink(join(home, 'Documents/diary'), a)
      }
      return true
    }
    const write = (path: string) => call('write_file', { path, content: 'after' })
    const run = judged({ home, behaviour: steps([write('b')], [write('a')]), approve })
    await run.settle()
    const [through, swapped] = settledCalls(run)
    expect(through).toMatchObject({ isError: false })
    expect(swapped?.result).toBe(`Error: ${a} leads elsewhere now than when the call was judged. Call it again.`)
    expect(await readFile(join(home, 'Documents/diary'), 'utf8')).toBe('before')
  })

  it('can be answered by an input', async () => {
    const home = await homeWith()
    const run = judged({ home, behaviour: steps([bash('true'), bash('true')]), approve: 'by-input' })
    const asked = run.next('approval-requested')
    await run.runner.start()
    const { approval } = await asked
    await run.runner.post({ kind: 'answer', approval, approved: true, remember: 'session' })
    await run.runner.idle()
    expect(run.told('approval-requested')).toHaveLength(1)
    expect(settledCalls(run).map(({ outcome }) => outcome)).toEqual(['ran', 'ran'])
  })
})

describe('an answer that is remembered', () => {
  it('for the chat session covers all later calls of the tool, those that wait already too', async () => {
    const home = await homeWith()
    const { approve, questions } = answering({ approved: true, remember: 'session' })
    const run = judged({ home, behaviour: steps([bash('true'), bash('true')], [bash('echo a | cat')]), approve })
    await run.settle()
    expect(questions).toHaveLength(1)
    expect(settledCalls(run).map(({ decision }) => decision.reason)).toEqual([
      'default: code/exec/cli',
      'remembered: bash',
      'remembered: bash',
    ])
    expect(run.world.get(run.agent, PolicyState)?.remembered).toEqual([{ tool: 'bash', reach: [] }])
  })

  it('for a command covers it with plain operands behind it, quiet or not', async () => {
    const home = await homeWith({ 'other/o': 'o' })
    await symlink(join(home, 'other'), join(home, 'projects/app/out'))
    const { approve, questions } = answering({ approved: true, remember: 'command' })
    const covered = ['git status', 'git status src', 'git status -- src', 'git status 2>&1', 'git status > /dev/null']
    const others = [
      'git push',
      'git status -s',
      'git status ../../other',
      'git status /tmp',
      'git status out',
      'git status "a"',
      'git status && touch a',
      'git status; touch a',
      'git status | tee a',
      'git status || touch a',
      'git status $(touch a)',
      'git status `touch a`',
      'git status > a',
      'git status &',
      'A=1 git status',
      'git statusx',
      'git -C . status',
      "git 'status'",
    ]
    const run = judged({
      home,
      behaviour: steps([bash('git status')], covered.map(bash), others.map(bash)),
      approve,
    })
    await run.settle()
    expect(questions.map(({ arguments: given }) => given['command'])).toEqual(['git status', ...others])
    expect(existsSync(join(run.cwd, 'a'))).toBe(false)
  })

  it('counts for the tool as it was declared then', async () => {
    const home = await homeWith()
    const store = memoryStore()
    const first = tool('first', () => 'done', { operation: 'write' })
    const { approve, questions } = answering({ approved: true, remember: 'session' }, true)
    const run = judged({ home, behaviour: steps([call('first')]), store, tools: [first], approve })
    await run.settle()
    await run.runner.stop()
    const { models } = behaving(steps([], [], [call('first')]))
    const changed = tool('first', () => 'done', { operation: 'write', description: 'Does more.' })
    const again = await reopened(store, { models, tools: [changed], effects: { ...policyEffects() }, approve })
    await again.runner.start()
    await again.runner.message(run.agent, 'Go on')
    await again.runner.idle()
    expect(questions).toHaveLength(2)
  })

  it('does not count for personal data, for credentials, and against a denial', async () => {
    const home = await homeWith({ 'Documents/a': 'a', '.netrc': 'n', 'projects/app/x': 'x' })
    const all = Array.from({ length: 6 }, () => ({ approved: true, remember: 'session' as const }))
    const { approve, questions } = answering(...all)
    const run = judged({
      home,
      behaviour: steps(
        [bash('true')],
        [bash('cat ~/.netrc')],
        [bash('true')],
        [call('read_file', { path: '~/Documents/a' })],
        [call('read_file', { path: '~/Documents/a' })],
        [bash('cat ~/projects/app/x')],
      ),
      approve,
      config: { deniedPaths: ['~/projects/app/x'] },
    })
    await run.settle()
    expect(questions.map(({ mayRemember }) => mayRemember)).toEqual([true, false, false, false, false])
    expect(questions.map(({ decision }) => decision?.reason)).toEqual([
      'default: code/exec/cli',
      'credential path: ~/.netrc',
      'default: personal/exec/cli',
      'default: personal/read/cli',
      'default: personal/read/cli',
    ])
    expect(settledCalls(run).at(-1)?.result).toBe('[entia policy denied: denied path: ~/projects/app/x]')
    expect(run.world.get(run.agent, PolicyState)?.remembered).toEqual([{ tool: 'bash', reach: [] }])
  })
})

describe('an approval that is pending when the process ends', () => {
  /** A letter that may be sent once. */
  function letters(options: { readonly operation: 'write' | 'read'; readonly paths?: string[] }) {
    const sent: string[] = []
    const send: Tool = defineTool({
      name: 'send',
      description: 'Sends.',
      input: z.object({ path: z.string() }),
      restart: 'once',
      ...options,
      run: ({ path }) => `sent ${sent.push(path)}`,
    })
    return { sent, send }
  }

  async function pending(approve: Approve | 'by-input', send: Tool) {
    const home = await homeWith()
    const store = memoryStore()
    const behaviour = steps([call('send', { path: 'a' })])
    const run = judged({ home, behaviour, store, tools: [send], approve })
    const asked = run.next('approval-requested')
    await run.runner.start()
    const { approval } = await asked
    await run.runner.stop()
    return { approval, behaviour, home, store, agent: run.agent }
  }

  function hostOf(behaviour: ReturnType<typeof steps>, options: { readonly tools: Tool[]; readonly approve: Approve }) {
    const { models } = behaving(behaviour)
    return { models, effects: { ...policyEffects() }, ...options }
  }

  it('is asked again under the same id, and the call runs once', async () => {
    const { sent, send } = letters({ operation: 'write' })
    const first = await pending('by-input', send)
    const { approve, questions } = answering(true, true)
    const again = await reopened(first.store, hostOf(first.behaviour, { tools: [send], approve }))
    await again.runner.start()
    await again.runner.idle()
    expect(questions.map(({ id }) => id)).toEqual([first.approval])
    expect(questions[0]?.decision?.reason).toBe('default: code/write/cli')
    expect(sent).toEqual(['a'])
    expect(settledCalls(again)).toMatchObject([{ outcome: 'ran', number: 1 }])
  })

  it('is judged anew if the declaration has changed', async () => {
    const first = await pending('by-input', letters({ operation: 'write' }).send)
    const { sent, send } = letters({ operation: 'read' })
    const questions: ApprovalQuestion[] = []
    const approve: Approve = (question) => (questions.push(question), new Promise<never>(() => undefined))
    const again = await reopened(first.store, hostOf(first.behaviour, { tools: [send], approve }))
    await again.runner.start()
    await again.runner.idle()
    expect(questions.every(({ signal }) => signal.aborted)).toBe(true)
    expect(sent).toEqual(['a'])
    expect(settledCalls(again)).toMatchObject([{ operation: 'read', decision: { reason: 'default: code/read/cli' } }])
  })

  it('is inspected again if the declaration has changed while it waits for an earlier one', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    await symlink(join(home, 'Documents'), join(home, 'projects/app/k'))
    const store = memoryStore()
    const behaviour = steps([call('list_files'), call('send', { path: 'k/a' })])
    const inspected = Promise.withResolvers<void>()
    const policy = async ({ tool: name }: { readonly tool: string }) => {
      if (name === 'list_files') return new Promise<never>(() => undefined)
      inspected.resolve()
      return undefined
    }
    const before = letters({ operation: 'read', paths: [] })
    const run = judged({ home, behaviour, store, tools: [before.send], policy })
    await run.runner.start()
    await inspected.promise
    await turns(20)
    await run.runner.stop()
    const { sent, send } = letters({ operation: 'read', paths: ['path'] })
    const { approve, questions } = answering(true)
    const tools = [...run.host.tools.values()].filter(({ declaration }) => declaration.name !== 'send')
    const again = await reopened(store, hostOf(behaviour, { tools: [...tools, send], approve }))
    await again.runner.start()
    await again.runner.idle()
    expect(questions.map(({ dataClass }) => dataClass)).toEqual(['personal'])
    expect([before.sent, sent]).toEqual([[], ['k/a']])
  })

  it('is judged anew if the policy has changed when it is answered', async () => {
    const { sent, send } = letters({ operation: 'write' })
    const home = await homeWith()
    const run = judged({ home, behaviour: steps([call('send', { path: 'a' })]), tools: [send], approve: 'by-input' })
    const asked = run.next('approval-requested')
    await run.runner.start()
    const { approval } = await asked
    await run.runner.change((world) => {
      world.patch(run.agent, Policy, { config: { permissions: { send: 'deny' } } })
    })
    await run.runner.post({ kind: 'answer', approval, approved: true })
    await run.runner.idle()
    await turns()
    expect(sent).toEqual([])
    expect(run.world.query(Approval)).toEqual([])
    expect(transcript(run.world, run.agent)[2]).toBe('tool call-1-0!: [entia policy denied: configured: send]')
  })
})
