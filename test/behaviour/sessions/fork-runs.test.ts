import { Conversation, fail, Permissions, type ScriptedCall, type ScriptedReply, textOf } from 'entia'
import { describe, expect, it } from 'vitest'
import { tool } from '../turns/tools.ts'
import { forkCall, forkRequests, lines, onlySession, parentAndFork, parentRequests } from './forking.ts'
import { type Behaviour, call, calls, delegate, launchedBy, notesIn, resultsIn, stepwise, team } from './team.ts'

/** Tools that note when they run. */
function watchedTools(...names: readonly string[]) {
  const ran: string[] = []
  return { ran, tools: names.map((name) => tool(name, () => (ran.push(name), `${name} ran.`))) }
}

/** A fork that asks for these in its first step, and reports in the next. */
function forkThatCalls(...asked: readonly ScriptedCall[]): Behaviour {
  return stepwise('', calls(...asked), 'Scope: all of it')
}

/** Results of calls that forks have made. */
function forkResults(made: Parameters<typeof forkRequests>[0]): Record<string, string> {
  return resultsIn(forkRequests(made).flatMap(({ messages }) => [...messages]))
}

const parent = stepwise(calls(forkCall('one')))

describe('a tool in a fork', () => {
  it('that is not among the allowed ones is declared like all others, and does not run', async () => {
    const { ran, tools } = watchedTools('read_file', 'write_file')
    const made = team({
      agent: { tools },
      runner: { tools },
      registry: { fork: { allowedTools: ['read_file'] } },
      lead: parentAndFork(
        parent,
        forkThatCalls(call('r', 'read_file'), call('w', 'write_file'), call('s', 'subagent')),
      ),
    })
    await made.run()
    const [own, forks] = [parentRequests(made)[0], forkRequests(made)[0]]
    expect(JSON.stringify(forks?.tools)).toBe(JSON.stringify(own?.tools))
    expect(forkResults(made)).toMatchObject({
      r: 'read_file ran.',
      w: "Error: tool 'write_file' is not allowed in this fork",
      s: "Error: tool 'subagent' is not allowed in this fork",
    })
    expect(ran).toEqual(['read_file'])
    expect(onlySession(made).status).toBe('succeeded')
  })

  it('is refused that its parent may not run, whatever becomes of the parent later', async () => {
    const { ran, tools } = watchedTools('read_file', 'bash')
    const made = team({
      agent: { tools },
      runner: { tools },
      parts: [Permissions({ denied: ['bash'] })],
      lead: parentAndFork(parent, async (request, context) => {
        await context.sleep(10)
        return forkThatCalls(call('b', 'bash'), call('r', 'read_file'))(request, context)
      }),
    })
    await made.runner.start()
    await made.next('turn-ended')
    await made.runner.change((world) => world.remove(made.lead, Permissions))
    await made.runner.idle()
    expect(forkResults(made)).toMatchObject({
      b: "Error: tool 'bash' is not allowed in this fork",
      r: 'read_file ran.',
    })
    expect(ran).toEqual(['read_file'])
  })

  it('does not run further down either, where it is allowed to nobody', async () => {
    const { ran, tools } = watchedTools('read_file', 'write_file', 'bash')
    const inheritancePolicy = { inheritTools: ['read_file', 'write_file', 'bash'] }
    const made = team({
      agent: { tools },
      runner: { tools },
      parts: [Permissions({ denied: ['bash'] })],
      registry: { fork: { allowedTools: ['read_file', 'subagent', 'bash'] } },
      subagents: { researcher: { inheritancePolicy } },
      lead: parentAndFork(parent, forkThatCalls(delegate('down'))),
      worker: stepwise(calls(call('r', 'read_file'), call('w', 'write_file'), call('b', 'bash'))),
    })
    await made.run()
    const [, last] = made.asked('worker')
    expect(resultsIn(last?.request.messages ?? [])).toEqual({
      r: 'read_file ran.',
      w: "Error: tool 'write_file' is not permitted.",
      b: "Error: tool 'bash' is not permitted.",
    })
    expect(ran).toEqual(['read_file'])
  })
})

describe('a fork that has subagents of its own', () => {
  it('lets them run nothing that its parent does not have, though none is listed as allowed', async () => {
    const { ran, tools } = watchedTools('read_file', 'bash')
    const [read] = tools
    const made = team({
      agent: { tools: read === undefined ? [] : [read] },
      runner: { tools },
      subagents: { researcher: { tools: ['read_file', 'bash'] } },
      lead: parentAndFork(parent, forkThatCalls(delegate('down'))),
      worker: stepwise(calls(call('r', 'read_file'), call('b', 'bash'))),
    })
    await made.run()
    expect(resultsIn(made.asked('worker')[1]?.request.messages ?? [])).toEqual({
      r: 'read_file ran.',
      b: "Error: tool 'bash' is not permitted.",
    })
    expect(ran).toEqual(['read_file'])
  })

  it('counts as one level of depth, and does not see the sessions of its parent', async () => {
    const fork = stepwise('', '', calls(delegate('down'), call('seen', 'subagent_status')), 'Scope: all of it')
    const above = stepwise(calls(delegate('before')), calls(forkCall('one')))
    const made = team({ lead: parentAndFork(above, fork) })
    await made.run()
    expect(forkResults(made)).toMatchObject({ down: 'Done: Look', seen: expect.stringContaining('No active subagent') })
    expect(made.told('delegation-started').map(({ kind, depth }) => [kind, depth])).toEqual([
      ['named', 1],
      ['fork', 1],
      ['named', 2],
    ])
  })

  it('is refused a fork by these as well', async () => {
    const made = team({
      subagents: { researcher: { inheritancePolicy: { inheritTools: ['subagent'] } } },
      lead: parentAndFork(parent, forkThatCalls(delegate('down'))),
      worker: stepwise(calls(forkCall('said'), call('left-out', 'subagent', { prompt: 'Look' }))),
    })
    await made.run()
    const refused = 'Error: A fork cannot fork; carry out the directive yourself'
    expect(resultsIn(made.asked('worker')[1]?.request.messages ?? [])).toEqual({ said: refused, 'left-out': refused })
    expect(made.told('session-queued').map(({ sequence }) => sequence)).toEqual([1, 1])
  })
})

describe('the end of a fork', () => {
  const report = 'Scope: all of it\nResult: nothing'
  const envelope = `<subagent_background_result><summary>Nothing.</summary><full_result>${report}</full_result></subagent_background_result>`
  const later = async (reply: ScriptedReply, sleep: (durationMs: number) => Promise<void>): Promise<ScriptedReply> => {
    await sleep(100)
    return reply
  }
  const read: Behaviour = ({ messages }) =>
    calls(call('read', 'subagent_result', { session_id: launchedBy(messages, 'one') }))

  it.for<[when: string, steps: readonly (ScriptedReply | Behaviour)[]]>([
    ['asleep', [calls(forkCall('one'), call('wait', 'subagent_wait')), read]],
    [
      'in mid-turn',
      [calls(forkCall('one')), (_, { sleep }) => later(calls(call('status', 'subagent_status')), sleep), read],
    ],
    ['with its turn over', [calls(forkCall('one')), 'Done.', read]],
  ])('is told to its parent, %s, in one message with one line, and the report can be read', async ([, steps]) => {
    const fork: Behaviour = (_, { sleep }) => later(envelope, (durationMs) => sleep(durationMs / 2))
    const made = team({ lead: parentAndFork(stepwise(...steps), fork) })
    await made.run()
    const { sessionId } = onlySession(made)
    const [note, ...others] = notesIn(made.world.read(made.lead, Conversation))
    expect(others).toEqual([])
    expect(note?.split('\n')).toEqual([
      'Background subagent updates:',
      expect.stringMatching(new RegExp(`^- ${sessionId} succeeded\\. Call subagent_result`)),
    ])
    expect(JSON.parse(made.results()['read'] ?? '')).toMatchObject({
      status: 'success',
      category: 'fork',
      lifecycle_status: 'succeeded',
      inline_content: report,
    })
  })

  it('is a failure of its own when its model fails for good, and none of its parent', async () => {
    const boom = (): ScriptedReply => fail('invalid-request', { message: 'boom' })
    const made = team({ lead: parentAndFork(parent, boom) })
    await made.run()
    const { sessionId, status, error } = onlySession(made)
    expect({ status, error }).toEqual({ status: 'failed', error: 'boom' })
    expect(notesIn(made.world.read(made.lead, Conversation))).toEqual([
      `Background subagent updates:\n- ${sessionId} failed: boom. Call subagent_result(session_id="${sessionId}") for details.`,
    ])
    const own = made.events.filter((event) => !('path' in event))
    expect(own.filter(({ type }) => type === 'model-failed')).toEqual([])
    expect(
      made
        .told('turn-ended')
        .filter((event) => !('path' in event))
        .map(({ stop }) => stop),
    ).toEqual(['done', 'done'])
  })

  it.for<[maxSteps: number | undefined, count: number]>([
    [undefined, 200],
    [3, 3],
  ])('comes after %s steps, whatever its parent had made before', async ([maxSteps, count]) => {
    const { tools } = watchedTools('again')
    const again = calls(call('again', 'again'))
    const made = team({
      agent: { tools, maxSteps: 4 },
      runner: { tools },
      registry: maxSteps === undefined ? {} : { fork: { maxSteps } },
      lead: parentAndFork(stepwise(again, again, calls(forkCall('one'))), () => again),
    })
    await made.run()
    expect(forkRequests(made)).toHaveLength(count)
    expect(onlySession(made)).toMatchObject({ status: 'failed', error: `Step limit reached (${count})` })
  })

  it('comes at its time-out, and its parent goes on', async () => {
    const asking = call('one', 'subagent', { category: 'fork', prompt: 'Look', timeout: 2 })
    const made = team({
      lead: parentAndFork(stepwise(calls(asking)), (_, { sleep }) => later('Late', () => sleep(60_000))),
    })
    await made.run()
    expect(onlySession(made)).toMatchObject({ status: 'timed_out', error: 'Subagent timeout after 2s' })
    expect(textOf(made.world.read(made.lead, Conversation).at(-1))).toBe('Done.')
  })

  it('is a success with a report of any form', async () => {
    const made = team({ lead: parentAndFork(parent, () => 'I looked, and that is all.') })
    await made.run()
    expect(onlySession(made)).toMatchObject({ status: 'succeeded', inlineContent: 'I looked, and that is all.' })
    expect(lines(parentRequests(made)[0] as never)).toEqual(['user: Go'])
  })
})
