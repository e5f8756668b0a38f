import {
  assistant,
  Conversation,
  fail,
  memoryStore,
  Paused,
  type ScriptedReply,
  SessionPool,
  type Store,
  user,
} from 'entia'
import { Blueprint, SharedHistory } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { reopened } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { directiveOf, forkCall, forkRequests, lines, onlySession, parentAndFork } from './forking.ts'
import { type Behaviour, call, calls, delegate, provider, sessionsOf, stepwise, team, type Team } from './team.ts'

const search = tool('search', () => 'Found.')
const boom = (): ScriptedReply => fail('invalid-request', { message: 'boom' })

/** A lead that forks at once, and whose fork fails after a step, until it is mended. */
function failingFork(store?: Store) {
  let isMended = false
  const fork = stepwise('', calls(call('s', 'search')), () => (isMended ? 'Scope: all of it' : boom()))
  const made = team({
    lead: parentAndFork(stepwise(calls(forkCall('one'))), fork),
    agent: { tools: [search] },
    runner: { tools: [search], sessionPool: new SessionPool(), ...(store !== undefined && { store }) },
  })
  return { made, mend: () => void (isMended = true) }
}

/** The failed fork is resumed after its parent has gone on. */
async function resumed({ made, mend }: ReturnType<typeof failingFork>, between = async (): Promise<void> => {}) {
  await made.run()
  const before = forkRequests(made).map(lines)
  await made.runner.change((world) => world.rewrite(made.lead, Conversation, [user('In short.'), assistant('Done.')]))
  await made.runner.idle()
  await between()
  mend()
  const answer = await made.runner.subagents(made.lead).resume(1)
  await made.runner.idle()
  return { before, answer, after: forkRequests(made).slice(before.length).map(lines) }
}

describe('a fork that is resumed', () => {
  it('goes on from its journal, and pays for no finished step again', async () => {
    const failing = failingFork(memoryStore())
    const { before, answer, after } = await resumed(failing)
    const { made } = failing
    expect(before).toHaveLength(2)
    expect(answer.continued).toBe(true)
    expect(after).toEqual([before[1]])
    const [old, next] = made.sessions()
    expect(old).toMatchObject({ status: 'failed', error: 'boom' })
    expect(next).toMatchObject({
      status: 'succeeded',
      kind: 'fork',
      resumedFrom: old?.sessionId,
      prompt: 'Look around',
    })
    expect(next?.prefixHash).toBe(old?.prefixHash)
    expect(made.told('prefix-broken').filter(({ path }) => path !== undefined)).toEqual([])
  })

  it('starts again from its captured history where there is no journal, whatever its parent knows now', async () => {
    const failing = failingFork()
    const { before, answer, after } = await resumed(failing)
    expect(answer.continued).toBe(false)
    expect(after).toEqual(before)
    expect(failing.made.sessions()[1]).toMatchObject({ status: 'succeeded', kind: 'fork', category: 'fork' })
    expect(failing.made.told('prefix-broken').filter(({ path }) => path !== undefined)).toEqual([])
  })

  it('starts again from its captured history where its journal is gone', async () => {
    const store = memoryStore()
    const failing = failingFork(store)
    const lose = () => store.delete(failing.made.sessions()[0]?.sessionId ?? '')
    const { before, after } = await resumed(failing, lose)
    expect(after).toEqual(before)
    expect(failing.made.sessions()[1]?.status).toBe('succeeded')
  })
})

/** What of captures is there: the blueprints of forks. */
function captures({ world }: Pick<Team, 'world'>): readonly number[] {
  return world.query(Blueprint, SharedHistory)
}

describe('the capture of a fork', () => {
  it('is there while the fork could begin, or be resumed, from it', async () => {
    const { made, mend } = failingFork()
    await made.run()
    expect(captures(made)).toHaveLength(1)
    mend()
    await made.runner.subagents(made.lead).resume(1)
    await made.runner.idle()
    expect(made.sessions().map(({ status }) => status)).toEqual(['failed', 'succeeded'])
    expect(captures(made)).toHaveLength(1)
  })

  it('goes with the last session that could begin from it', async () => {
    const slowly = parentAndFork(
      stepwise(calls(forkCall('short', 'short'), forkCall('long', 'long'))),
      async (request, { sleep }) => {
        await sleep(directiveOf(request) === 'short' ? 10 : 100)
        return 'Scope: all of it'
      },
    )
    const made = team({ lead: slowly })
    const left: number[] = []
    made.runner.on('session-ended', () => void left.push(captures(made).length))
    await made.run()
    expect(left).toEqual([1, 0])
    expect(made.world.query(Blueprint)).toEqual([])
  })

  it('goes with its parent', async () => {
    const { made } = failingFork()
    await made.run()
    expect(captures(made)).toHaveLength(1)
    await made.runner.change((world) => world.despawn(made.lead))
    await made.runner.idle()
    expect(made.world.query(Blueprint)).toEqual([])
  })

  it('is saved and restored once, with all that wait for it', async () => {
    const store = memoryStore()
    const asking = stepwise(
      calls(delegate('busy', { background: true })),
      calls(forkCall('a', 'A'), forkCall('b', 'B')),
    )
    const made = team({
      lead: parentAndFork(asking),
      worker: async (_, { sleep }) => (await sleep(1_000), 'Done.'),
      runner: { sessionPool: new SessionPool({ cap: 1 }), store },
    })
    await made.runner.start()
    await made.next('turn-ended')
    await made.runner.stop()
    const heard: string[][] = []
    const lead = provider('lead', (request) => {
      if (directiveOf(request) !== undefined) heard.push(lines(request))
      return 'Scope: all of it'
    })
    const models = { ...made.options.models, lead }
    const next = await reopened(store, { ...made.options, sessionPool: new SessionPool({ cap: 1 }), models })
    expect(captures(next)).toHaveLength(1)
    await next.runner.start()
    await next.runner.idle()
    expect(heard.map((said) => said.at(-1))).toEqual(['directive: A', 'directive: B'])
    expect(heard[0]?.slice(0, -1)).toEqual(heard[1]?.slice(0, -1))
    expect(heard[0]).toHaveLength(7)
    expect(sessionsOf(next.world, made.lead).map(({ status }) => status)).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
    ])
    expect(next.world.query(Blueprint)).toEqual([])
  })

  it('of a session that is under way is not another’s: each history has its own', async () => {
    const made = team({
      lead: parentAndFork(
        () => 'Done.',
        (_, { sleep }) => sleep(100).then(() => 'Scope: all'),
      ),
    })
    await made.run()
    const subagents = made.runner.subagents(made.lead)
    await subagents.fork('First')
    await subagents.fork('Second')
    expect(captures(made)).toHaveLength(1)
    await made.runner.message(made.lead, 'More')
    await made.next('turn-ended')
    await subagents.fork('Third')
    expect(captures(made)).toHaveLength(2)
    await made.runner.idle()
    expect(forkRequests(made).map(({ messages }) => messages.length)).toEqual([3, 3, 5])
    expect(captures(made)).toEqual([])
  })

  it('is not another’s either where no model was asked, and all else is the same', async () => {
    const fork: Behaviour = (_, { sleep }) => sleep(100).then(() => 'Scope: all')
    const messages = [user('Go'), assistant('Left.')]
    const made = team({ agent: { messages }, parts: [Paused], lead: parentAndFork(() => 'Done.', fork) })
    await made.runner.start()
    await made.runner.subagents(made.lead).fork('Look')
    await made.runner.change((world) => world.rewrite(made.lead, Conversation, [user('Go'), assistant('Right.')]))
    await made.runner.subagents(made.lead).fork('Look')
    await made.runner.idle()
    expect(forkRequests(made).map((request) => lines(request)[1])).toEqual(['assistant: Left.', 'assistant: Right.'])
  })

  it('has nothing to hold where nothing was said', async () => {
    const made = team({ agent: { messages: [] }, lead: parentAndFork(() => 'Done.', boom) })
    await made.runner.start()
    await made.runner.subagents(made.lead).fork('Look')
    await made.runner.idle()
    expect(onlySession(made).status).toBe('failed')
    expect(captures(made)).toEqual([])
    expect(made.world.query(Blueprint)).toHaveLength(1)
  })
})
