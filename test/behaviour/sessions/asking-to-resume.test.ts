import { Conversation, fail, memoryStore, SessionPool } from 'entia'
import { DelegationLimits } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { rejection } from '../turns/driving.ts'
import { byTask } from './pace.ts'
import { delegatedBy, program, storedSession, stuck } from './program.ts'
import { once } from './sleepy-team.ts'
import {
  answerIn,
  type Behaviour,
  call,
  calls,
  delegate,
  launchedBy,
  sessionsOf,
  stepwise,
  type TeamOptions,
} from './team.ts'

describe('the sessions of a session that is resumed', () => {
  /** A session that may launch two of its own, has launched one, and fails behind that until it is mended. */
  async function failedBehindOne() {
    let isBroken = true
    const store = memoryStore()
    const made = await program({
      parts: [DelegationLimits({ sessions: 20 })],
      subagents: {
        researcher: { inheritancePolicy: { inheritTools: ['subagent'] }, limits: { sessions: 1 } },
        leaf: {},
      },
      worker: byTask({
        top: (request, context) => {
          const dig = (id: string) => calls(delegate(id, { category: 'leaf', prompt: id }))
          return stepwise(dig('first'), isBroken ? fail('refused') : dig('second'), 'Both.')(request, context)
        },
      }),
      workerOptions: { usage: { input: 5 } },
      runner: { store },
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'top' })
    await made.runner.idle()
    expect(made.sessions()[0]?.status).toBe('failed')
    isBroken = false
    return { made, store }
  }

  it('are counted once above, and its grant is for new ones', async () => {
    const { made } = await failedBehindOne()
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ launched: 1, spentSessions: 1, spentTokens: 10 })
    const { sessionId } = await made.subagents.resume(1)
    await expect(made.subagents.collect(sessionId)).resolves.toBe('Both.')
    expect(made.sessions()[1]?.usage).toMatchObject({ calls: 2, input: 10, delegatedTokens: 5, sessions: 1 })
    expect(delegatedBy(made.world, made.lead)).toMatchObject({
      launched: 2,
      spentSessions: 2,
      spentTokens: 25,
      reservedSessions: 0,
    })
  })

  it('go on in their count', async () => {
    const { made, store } = await failedBehindOne()
    const { sessionId } = await made.subagents.resume(1)
    await made.runner.idle()
    await made.runner.stop()
    const { world, agent } = await storedSession(store, sessionId)
    expect(sessionsOf(world, agent).map(({ sequence, prompt }) => [sequence, prompt])).toEqual([
      [1, 'first'],
      [2, 'second'],
    ])
  })
})

describe('a model that asks for a session to be resumed', () => {
  /** Delegates, and then asks for that to be resumed. */
  function asking(worker: Behaviour, background: boolean, named?: string): TeamOptions {
    return {
      agent: { messages: 'Go' },
      worker,
      lead: stepwise(calls(delegate('a', { background })), ({ messages }) => {
        const id = named ?? (background ? launchedBy(messages, 'a') : '1')
        return calls(call('resume', 'subagent_resume', { session_id: id }))
      }),
    }
  }

  it.each([
    ['from where it was', memoryStore(), true],
    ['from the start', undefined, false],
  ])('is told of the new one, which goes on %s', async (_, store, continued) => {
    const made = await program({
      ...asking(() => fail('refused'), false),
      runner: store === undefined ? {} : { store },
    })
    await made.runner.idle()
    const [old, session] = made.sessions()
    expect(answerIn(made.world.read(made.lead, Conversation), 'resume')).toEqual({
      status: 'success',
      original_session_id: old?.sessionId,
      session_id: session?.sessionId,
      category: 'researcher',
      lifecycle_status: 'queued',
      continued,
    })
    expect(session?.sessionId).not.toBe(old?.sessionId)
  })

  it.each([
    ['running', stuck],
    ['succeeded', () => 'Fine.'],
  ] as const)('that is %s is told that it cannot be', async (status, behaviour) => {
    const made = await program(asking(behaviour, status === 'running'))
    await once(made, () => 'resume' in made.results())
    const id = made.sessions()[0]?.sessionId
    expect(answerIn(made.world.read(made.lead, Conversation), 'resume')).toMatchObject({
      status: 'error',
      error: `Session ${id} is not in a resumable state: ${status}. Only failed, timed_out, or cancelled sessions can be resumed.`,
    })
    expect(made.sessions()).toHaveLength(1)
    await made.runner.stop()
  })

  it('that is nowhere is told so', async () => {
    const made = await program(asking(() => 'Fine.', false, 'session-0000000000000000'))
    await made.runner.idle()
    expect(answerIn(made.world.read(made.lead, Conversation), 'resume')).toMatchObject({
      status: 'error',
      error: 'Session not found: session-0000000000000000',
    })
  })
})

describe('a program that resumes a session', () => {
  it('which is queued or running or has succeeded is refused, and nothing has changed', async () => {
    const sessionPool = new SessionPool({ cap: 1 })
    const made = await program({ worker: byTask({ b: stuck }), runner: { sessionPool } })
    for (const prompt of ['a', 'b', 'c']) await made.subagents.spawn({ category: 'researcher', prompt })
    await once(made, () => made.sessions()[1]?.status === 'running')
    for (const [index, status] of ['succeeded', 'running', 'queued'].entries()) {
      const id = made.sessions()[index]?.sessionId
      await expect(rejection(made.subagents.resume(index + 1))).resolves.toMatchObject({
        message: `Session ${id} is not in a resumable state: ${status}. Only failed, timed_out, or cancelled sessions can be resumed.`,
      })
    }
    expect(made.sessions()).toHaveLength(3)
    await made.runner.stop()
  })
})
