import {
  type ApprovalQuestion,
  type Approve,
  defineTool,
  type Entity,
  LastTurn,
  memoryStore,
  Permissions,
  VirtualClock,
  type World,
} from 'entia'
import { Approval, ToolCall, ToolRegistry } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { expectValid, transcript } from '../../transcript.ts'
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
    expect(transcript(world, agent)[2]).toBe('tool call-1-0!: [user declined: no one answered before the deadline]')
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

describe('a question about a call that changes before the answer', () => {
  /** Two tools that need a person, one of them called; and the runs of both. */
  async function asked(input = {}) {
    const ran: string[] = []
    const tools = ['send', 'burn'].map((name) =>
      defineTool({
        name,
        description: `Can ${name}.`,
        restart: 'once',
        approval: true,
        input: z.object({ to: z.string() }),
        run: ({ to }) => void ran.push(`${name} ${to}`),
      }),
    )
    const { models } = behaving(calling({ name: 'send', arguments: input }))
    const { world, agent } = worldWith({ tools })
    const made = driven(world, { models, tools, approve: 'by-input' })
    const requested = made.next('approval-requested')
    await made.runner.start()
    const { approval } = await requested
    const answer = async (id = approval, approved = true) => {
      await made.runner.post({ kind: 'answer', approval: id, approved })
      if (world.query(Approval).length === 0) await made.runner.idle()
    }
    const ids = () => made.told('approval-requested').map(({ approval: id }) => id)
    return { ...made, world, agent, ran, approval, answer, ids }
  }

  const onlyCall = (world: World) => world.query(ToolCall)[0] ?? 0
  const changes: [string, (world: World, agent: Entity) => void, string][] = [
    ['arguments', (world) => world.patch(onlyCall(world), ToolCall, { arguments: { to: 'all' } }), 'send all'],
    ['tool', (world) => world.patch(onlyCall(world), ToolCall, { name: 'burn' }), 'burn me'],
    ['permissions', (world, agent) => world.set(agent, Permissions, { allowed: ['send'] }), 'send me'],
    [
      'declaration',
      (world, agent) =>
        world.set(agent, ToolRegistry, {
          tools: world.read(agent, ToolRegistry).tools.map((each) => ({ ...each, description: 'Sends to all.' })),
        }),
      'send me',
    ],
  ]

  it.each(changes)('in its %s is asked again, under another id, and runs as it is then', async (_, change, run) => {
    const { runner, world, agent, ran, approval, answer, ids, told } = await asked({ to: 'me' })
    await runner.change((driven) => change(driven, agent))
    await answer()
    expect(ran).toEqual([])
    expect(told('input-dropped')).toMatchObject([{ kind: 'answer' }])
    expect(told('approval-answered')).toEqual([])
    const [, second = ''] = ids()
    expect(second).not.toBe(approval)
    await answer(approval)
    expect(ran).toEqual([])
    expect(told('input-dropped')).toHaveLength(2)
    await answer(second)
    expect(ran).toEqual([run])
    expect(ids()).toHaveLength(2)
    expectValid(world, agent)
  })

  it('is asked again where the answer was no', async () => {
    const { runner, world, ran, answer, ids } = await asked({ to: 'me' })
    await runner.change((driven) => driven.patch(onlyCall(driven), ToolCall, { arguments: { to: 'you' } }))
    await answer(undefined, false)
    await answer(ids()[1], true)
    expect(ran).toEqual(['send you'])
    expect(world.query(Approval)).toEqual([])
  })

  it('and back again counts as it was shown', async () => {
    const { runner, ran, answer, ids } = await asked({ to: 'me' })
    for (const to of ['you', 'me']) {
      await runner.change((driven) => driven.patch(onlyCall(driven), ToolCall, { arguments: { to } }))
    }
    await answer()
    expect(ran).toEqual(['send me'])
    expect(ids()).toHaveLength(1)
  })

  it('asks nobody about arguments that do not fit any more', async () => {
    const { runner, world, agent, ran, answer, ids } = await asked({ to: 'me' })
    await runner.change((driven) => driven.patch(onlyCall(driven), ToolCall, { arguments: { to: 5 } }))
    await answer()
    expect(ran).toEqual([])
    expect(ids()).toHaveLength(1)
    expect(transcript(world, agent)[2]).toMatch(/^tool call-1-0!: Error: Invalid arguments for 'send'/)
  })

  it('asks nobody about a tool that is denied by then', async () => {
    const { runner, world, agent, ran, answer, ids } = await asked({ to: 'me' })
    await runner.change((driven) => driven.set(agent, Permissions, { denied: ['send'] }))
    await answer()
    expect(ran).toEqual([])
    expect(ids()).toHaveLength(1)
    expect(transcript(world, agent)[2]).toBe("tool call-1-0!: Error: tool 'send' is not permitted.")
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

  it.each([
    ['has changed is asked again under another id', 'changed', 2],
    ['is as it was keeps its id', 'same', 1],
  ])('about a call that %s', async (_, what, ids) => {
    const store = memoryStore()
    const { world, agent, tools, models, sent } = letters()
    const asked: string[] = []
    const never: Approve = ({ id }) => {
      asked.push(id)
      return new Promise<never>(() => undefined)
    }
    const first = driven(world, { models, tools, store, approve: never })
    await first.runner.start()
    await turns()
    if (what === 'changed') await first.runner.change((driven) => driven.set(agent, Permissions, { allowed: ['send'] }))
    await first.runner.stop()
    const second = await reopened(store, { models, tools, approve: 'by-input' })
    await second.runner.start()
    await turns()
    const [open] = second.world.query(Approval).map((entity) => second.world.read(entity, Approval).id)
    expect(new Set([...asked, open]).size).toBe(ids)
    await second.runner.post({ kind: 'answer', approval: open ?? '', approved: true })
    await second.runner.idle()
    expect(sent.count).toBe(1)
  })
})
