import { type ApprovalQuestion, type Approve, LastTurn, memoryStore, ToolRegistry, VirtualClock } from 'entia'
import { Approval } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { expectValid, transcript } from '../transcript.ts'
import { behaving, calling, driven, gate, reopened, settled, turns, worldWith } from './driving.ts'
import { tool } from './tools.ts'

/** A letter that somebody has to agree to, and how often it was sent. */
function letters(options: { readonly approvalTimeoutMs?: number } = {}) {
  const sent = { count: 0 }
  const send = tool('send', () => `sent ${++sent.count}`, { approval: true, restart: 'once', ...options })
  const { models } = behaving(calling({ name: 'send' }))
  return { sent, tools: [send], models, ...worldWith({ tools: [send] }) }
}

describe('a tool that needs a person', () => {
  it.each<[string, Approve]>([
    ['at once', () => true],
    ['later', async () => true],
    ['at length', () => ({ approved: true, reason: 'go ahead' })],
  ])('runs if the answer is yes, %s', async (_, approve) => {
    const { world, agent, tools, models, sent } = letters()
    await settled(world, { models, tools, approve })
    expect(sent.count).toBe(1)
    expect(transcript(world, agent)[2]).toBe('tool call-1-0: sent 1')
  })

  it.each<[string, Approve | undefined, string]>([
    ['it is no', () => false, 'no reason given'],
    ['it is no, and why', async () => ({ approved: false, reason: 'not on a Sunday' }), 'not on a Sunday'],
    [
      'asking throws',
      () => {
        throw new Error('no paper')
      },
      'asking failed: no paper',
    ],
    ['asking rejects', () => Promise.reject(new Error('no paper')), 'asking failed: no paper'],
    ['it is no clear yes', () => 'yes' as never, 'no reason given'],
    ['it is something else', () => ({ approved: 1, reason: 5 }) as never, 'no reason given'],
    ['it is nothing', () => undefined as never, expect.stringContaining('asking failed') as never],
    ['nobody is there', undefined, 'no approval channel'],
  ])('does not run if %s', async (_, approve, reason) => {
    const { world, agent, tools, models, sent } = letters()
    const { told } = await settled(world, { models, tools, ...(approve && { approve }) })
    expect(sent.count).toBe(0)
    expect(told('approval-answered')).toMatchObject([{ approved: false }])
    const line = transcript(world, agent)[2] ?? ''
    expect(/^tool call-1-0!: \[user declined: (.*)\]$/s.exec(line)?.[1]).toEqual(reason)
    expect(world.read(agent, LastTurn).stop).toBe('done')
    expectValid(world, agent)
  })

  it('is asked about with what it is to do, in whose name, and a signal', async () => {
    const { world, agent, tools, models } = letters()
    const questions: ApprovalQuestion[] = []
    await settled(world, { models, tools, approve: (question) => questions.push(question) > 0 })
    expect(questions).toMatchObject([
      { world: 'world', agent, tool: 'send', arguments: {}, id: expect.stringMatching(/^approval-/) },
    ])
    expect(questions[0]?.signal.aborted).toBe(false)
  })

  it('does not run when the time for an answer is over, and the question is called off', async () => {
    const { world, agent, tools, models, sent } = letters({ approvalTimeoutMs: 30_000 })
    const aborted = gate()
    const approve: Approve = ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      return new Promise<never>(() => undefined)
    }
    const clock = new VirtualClock({ auto: false })
    const { runner, next } = driven(world, { models, tools, approve, clock })
    const requested = next('approval-requested')
    await runner.start()
    await requested
    await turns()
    clock.advance(30_000)
    await runner.idle()
    await aborted.promise
    expect(sent.count).toBe(0)
    expect(transcript(world, agent)[2]).toMatch(/^tool call-1-0!: \[user declined: .*deadline/)
  })
})

describe('a question that is answered by an input', () => {
  it('waits while everything else goes on, and runs once it is answered', async () => {
    const { world, agent, tools, models, sent } = letters()
    const { runner, next } = driven(world, { models, tools, approve: 'by-input' })
    const requested = next('approval-requested')
    await runner.start()
    const { approval } = await requested
    await turns()
    expect(sent.count).toBe(0)
    expect(world.query(Approval).map((entity) => world.read(entity, Approval).id)).toEqual([approval])
    await runner.post({ kind: 'answer', approval, approved: true, reason: 'fine' })
    await runner.post({ kind: 'answer', approval, approved: false })
    await runner.idle()
    expect(sent.count).toBe(1)
    expect(transcript(world, agent)[2]).toBe('tool call-1-0: sent 1')
    expect(runner.stats.dropped).toBe(1)
  })

  it('is no if no answer comes in time, which passes by itself', async () => {
    const { world, tools, models, sent } = letters({ approvalTimeoutMs: 86_400_000 })
    await settled(world, { models, tools, approve: 'by-input' })
    expect(sent.count).toBe(0)
    expect(world.nowMs).toBe(86_400_000)
  })

  it('ends with its turn', async () => {
    const { world, agent, tools, models } = letters()
    const { runner, next } = driven(world, { models, tools, approve: 'by-input' })
    const requested = next('approval-requested')
    await runner.start()
    const { approval } = await requested
    await runner.cancel(agent)
    await runner.idle()
    await runner.post({ kind: 'answer', approval, approved: true })
    expect(runner.stats.dropped).toBe(1)
    expect(transcript(world, agent).slice(2)).toEqual([
      'tool call-1-0!: [cancelled by the user]',
      'assistant: [turn cancelled]',
    ])
  })

  it('takes nobody’s slot', async () => {
    const { world, agent, tools } = letters()
    const free = tool('free', () => 'free')
    const { models } = behaving(calling({ name: 'send' }, { name: 'free' }))
    world.set(agent, ToolRegistry, { tools: [...tools, free].map(({ declaration }) => declaration) })
    const { runner, told } = driven(world, { models, tools: [...tools, free], approve: 'by-input', maxInFlight: 1 })
    await runner.start()
    await turns(20)
    expect(told('tool-called').map(({ tool: name }) => name)).toEqual(['free'])
    expect(runner.stats.inFlight).toBe(1)
  })
})

describe('several questions of a step', () => {
  it('are asked one after another in call order, while what needs nobody runs', async () => {
    const order: string[] = []
    const careful = ['a', 'b', 'c'].map((name) => tool(name, () => void order.push(`ran ${name}`), { approval: true }))
    const tools = [...careful, tool('free', () => void order.push('ran free'))]
    const { world, agent } = worldWith({ tools })
    const { models } = behaving(calling(...['a', 'free', 'b', 'c'].map((name) => ({ name }))))
    let open = 0
    const approve: Approve = async ({ tool: name }) => {
      order.push(`asked ${name}`)
      expect(++open).toBe(1)
      await turns()
      open--
      return name !== 'b'
    }
    await settled(world, { models, tools, approve })
    expect(order.filter((what) => what.startsWith('asked'))).toEqual(['asked a', 'asked b', 'asked c'])
    expect(order.indexOf('ran free')).toBeLessThan(order.indexOf('asked b'))
    expect(
      transcript(world, agent)
        .slice(2)
        .map((line) => line.replace(/:.*/s, '')),
    ).toEqual(['tool call-1-0', 'tool call-1-1', 'tool call-1-2!', 'tool call-1-3', 'assistant'])
  })
})

describe('a question that was open when the process ended', () => {
  it('is asked again under the same id, and its tool runs once', async () => {
    const store = memoryStore()
    const { world, tools, models, sent } = letters()
    const asked: string[] = []
    const first = driven(world, {
      models,
      tools,
      store,
      approve: ({ id }) => {
        asked.push(id)
        return new Promise<never>(() => undefined)
      },
    })
    const requested = first.next('approval-requested')
    await first.runner.start()
    await requested
    await turns()
    await first.runner.stop()
    const approve: Approve = ({ id }) => asked.push(id) > 0
    const second = await reopened(store, { models, tools, approve })
    await second.runner.start()
    await second.runner.idle()
    expect(asked).toHaveLength(2)
    expect(new Set(asked).size).toBe(1)
    expect(sent.count).toBe(1)
  })
})
