import {
  assistant,
  Conversation,
  LastTurn,
  lastText,
  type ModelRequest,
  Paused,
  run,
  scripted,
  textOf,
  Usage,
  user,
  VirtualClock,
} from 'entia'
import { Terminal } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { expectValid, transcript } from '../../transcript.ts'
import { addAgent, behaving, calling, driven, settled, worldWith } from './driving.ts'
import { tool, wait } from './tools.ts'

const text = (request: ModelRequest) => request.messages.map(textOf)

describe('a turn', () => {
  it('is one model call where the model answers at once', async () => {
    const { world, agent } = worldWith()
    const { models, requests } = behaving(() => 'Hi')
    const { events } = await settled(world, { models })
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi'])
    expect(requests).toHaveLength(1)
    const types = events.map(({ type }) => type).filter((type) => type !== 'model-delta')
    expect(types).toEqual(['turn-started', 'model-called', 'model-replied', 'turn-ended', 'runner-stopped'])
  })

  it('runs the tools of a step at once, and answers in call order whichever ends first', async () => {
    const { world, agent } = worldWith({ tools: [wait] })
    const calls = [300, 100, 200].map((n) => ({ name: 'wait', arguments: { n } }))
    const { models, requests } = behaving(calling(...calls))
    await settled(world, { models, tools: [wait] })
    expect(world.nowMs).toBe(300)
    expect(transcript(world, agent).slice(2)).toEqual([
      'tool call-1-0: waited 300',
      'tool call-1-1: waited 100',
      'tool call-1-2: waited 200',
      'assistant: Done.',
    ])
    expectValid(world, agent)
    expect(requests).toHaveLength(2)
  })

  it('asks with a request that begins with the one before it', async () => {
    const { world } = worldWith({ tools: [wait], system: '${_installed_tools}' })
    const steps = 6
    const { models, requests } = behaving(({ messages }) => {
      const done = messages.filter(({ role }) => role === 'assistant').length
      return done === steps ? 'Done.' : { toolCalls: [{ name: 'wait', arguments: { n: done } }] }
    })
    const { told } = await settled(world, { models, tools: [wait] })
    expect(requests).toHaveLength(steps + 1)
    for (const [index, { messages, system, tools }] of requests.entries()) {
      const next = requests[index + 1]
      if (next === undefined) continue
      expect(next.messages.slice(0, messages.length)).toEqual([...messages])
      expect([next.system, next.tools]).toEqual([system, tools])
    }
    expect(told('prefix-broken')).toEqual([])
  })

  it('sums usage over its calls; what no call has said is unknown', async () => {
    const { world, agent } = worldWith({ tools: [wait] })
    const usage = ({ messages }: ModelRequest) =>
      messages.length === 1 ? { input: 10, cacheWrite: 4 } : { input: 3, cacheRead: 10 }
    const { models } = behaving(calling({ name: 'wait', arguments: { n: 1 } }), { usage })
    const { told } = await settled(world, { models, tools: [wait] })
    expect(world.read(agent, Usage)).toEqual({ calls: 2, input: 13, cacheRead: 10, cacheWrite: 4 })
    expect(told('model-replied').map(({ usage: said }) => said)).toEqual([
      { input: 10, cacheWrite: 4 },
      { input: 3, cacheRead: 10 },
    ])
  })

  it('keeps `$5` in its system prompt, and fills in what is meant', async () => {
    const { world } = worldWith({
      system: 'It costs $5 in ${HOME}. ${_installed_tools} ${_installed_nothing}',
      tools: [wait],
    })
    const { models, requests } = behaving(calling({ name: 'wait', arguments: { n: 1 } }))
    const { told } = await settled(world, { models, tools: [wait] })
    expect(requests.map(({ system }) => system)).toEqual(
      Array(2).fill('It costs $5 in ${HOME}. - wait ${_installed_nothing}'),
    )
    expect(told('warning')).toHaveLength(1)
  })
})

describe('a turn without end', () => {
  const forever = ({ messages }: ModelRequest) => ({ text: `${messages.length}`, toolCalls: [{ name: 'note' }] })
  const note = tool('note', () => 'noted')

  it('ends after the steps it may have, the last one’s calls answered; the next turn has as many again', async () => {
    const { world, agent } = worldWith({ tools: [note], maxSteps: 3 })
    const { models, requests } = behaving(forever)
    const { runner, told } = driven(world, { models, tools: [note] })
    await runner.start()
    await runner.idle()
    expect(requests).toHaveLength(3)
    expect(transcript(world, agent).slice(-3)).toEqual([
      'assistant: 5 <call-5-0 note>',
      'tool call-5-0: noted',
      'assistant: [Max turns reached]',
    ])
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'max-steps', steps: 3, toolCalls: 3 })
    await runner.message(agent, 'Again')
    await runner.idle()
    expect(requests).toHaveLength(6)
    expect(told('turn-ended').map(({ stop, steps }) => [stop, steps])).toEqual([0, 1].map(() => ['max-steps', 3]))
    expectValid(world, agent)
  })

  it('runs no tool past the calls it may have, and the model is told', async () => {
    let runs = 0
    const count = tool('note', () => ++runs)
    const { world, agent } = worldWith({ tools: [count], maxToolCalls: 2 })
    const { models } = behaving(calling({ name: 'note' }, { name: 'note' }, { name: 'note' }))
    await settled(world, { models, tools: [count] })
    expect(runs).toBe(2)
    expect(transcript(world, agent).slice(2)).toEqual([
      'tool call-1-0: 1',
      'tool call-1-1: 2',
      'tool call-1-2!: Error: the limit of 2 tool calls a turn is reached; answer with what you have.',
      'assistant: Done.',
    ])
  })
})

describe('a final answer that has a schema', () => {
  const output = z.object({ city: z.string(), degrees: z.number() })
  const answer = '{"city":"Oslo","degrees":-3}'

  it('comes as data', async () => {
    const { world, agent } = worldWith({ output })
    const { models, requests } = behaving(() => `\`\`\`json\n${answer}\n\`\`\``)
    await settled(world, { models })
    expect(world.read(agent, LastTurn).output).toEqual({ city: 'Oslo', degrees: -3 })
    expect(requests[0]?.outputSchema).toMatchObject({ type: 'object', required: ['city', 'degrees'] })
  })

  it('is repaired once, by a model that is told what is wrong', async () => {
    const { world, agent } = worldWith({ output })
    const { models, requests } = behaving(({ messages }) => (messages.length === 1 ? 'It is cold in Oslo.' : answer))
    const { told } = await settled(world, { models })
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'done', output: { city: 'Oslo' }, steps: 2 })
    expect(text(requests[1] as ModelRequest).at(-1)).toMatch(/does not follow the required JSON Schema: it is no JSON/)
    expect(told('output-rejected')).toHaveLength(1)
  })

  it('fails the turn if it is wrong twice; the next turn has a repair again', async () => {
    const { world, agent } = worldWith({ output })
    const { models, requests } = behaving(() => '{"city":1}')
    const { runner, told } = driven(world, { models })
    await runner.start()
    await runner.idle()
    expect(requests).toHaveLength(2)
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'failed', failure: { kind: 'invalid-output' } })
    await runner.message(agent, 'Again')
    await runner.idle()
    expect(requests).toHaveLength(4)
    expect(told('turn-ended').map(({ failure }) => failure?.kind)).toEqual(['invalid-output', 'invalid-output'])
    expectValid(world, agent)
  })
})

describe('a model that replies with nothing', () => {
  it('once is asked again, in a valid conversation that begins as before, and the turn ends well', async () => {
    const { models, requests } = behaving(({ messages }) => (messages.length < 4 ? { text: '' } : 'Done.'))
    const { world, agent } = worldWith({ messages: [user('Go'), assistant('Yes?'), user('Go on')] })
    const { told } = await settled(world, { models })
    expect(requests.map(({ messages }) => messages.length)).toEqual([3, 4])
    expect(told('turn-ended')).toMatchObject([{ stop: 'done', steps: 2 }])
    expect(told('prefix-broken')).toEqual([])
    expect(lastText(world, agent)).toBe('Done.')
    expectValid(world, agent)
  })

  it('twice in a row ends the turn as empty-reply, which the program sees, and the agent works on when spoken to', async () => {
    const { models, requests } = behaving(({ messages }) => {
      return messages.at(-1)?.content.some((block) => block.type === 'text' && block.text === 'Hello?') ? 'Hi' : {}
    })
    const { world, agent } = worldWith()
    const { runner, told } = driven(world, { models })
    await runner.start()
    await runner.idle()
    expect(requests).toHaveLength(2)
    expect(told('turn-ended')).toMatchObject([{ stop: 'empty-reply', failure: { kind: 'invalid-output' } }])
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'empty-reply', steps: 2 })
    expectValid(world, agent)
    await runner.message(agent, 'Hello?')
    await runner.idle()
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'done' })
  })

  it('now and then is asked again each time', async () => {
    let calls = 0
    const { models } = behaving(() =>
      ++calls % 2 === 1 ? {} : calls < 6 ? { toolCalls: [{ name: 'look' }] } : 'Done.',
    )
    const { world, agent } = worldWith({ tools: [tool('look', () => 'a tree')] })
    await settled(world, { models, tools: [tool('look', () => 'a tree')] })
    expect(calls).toBe(6)
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'done' })
  })

  it('in its last step ends as one that has used up its steps', async () => {
    const { models } = behaving(() => ({}))
    const { world, agent } = worldWith({ maxSteps: 1 })
    await settled(world, { models })
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'max-steps' })
    expectValid(world, agent)
  })
})

describe('agents of one world', () => {
  it('think with different providers, each at its own pace', async () => {
    const { world, agent: tortoise } = worldWith({ model: 'slow/x' })
    const hare = addAgent(world, { model: 'fast/y' })
    const ends: unknown[] = []
    const slow = scripted(({ model }) => `slow ${model}`, { latencyMs: 900 })
    const fast = scripted(({ model }) => `fast ${model}`, { latencyMs: 10 })
    const { runner } = driven(world, { models: { slow, fast } })
    runner.on('turn-ended', ({ agent }) => ends.push([agent, world.nowMs]))
    await runner.start()
    await runner.idle()
    expect(ends).toEqual([
      [hare, 10],
      [tortoise, 900],
    ])
    expect(transcript(world, tortoise).at(-1)).toBe('assistant: slow x')
    expect(world.read(hare, Conversation).at(-1)).toMatchObject({ model: 'fast/y' })
  })

  it('fail alone', async () => {
    const { world, agent: unlucky } = worldWith({ model: 'broken/x' })
    const lucky = addAgent(world, { model: 'fine/x' })
    const broken = scripted(() => {
      throw new Error('out of order')
    })
    await settled(world, { models: { broken, fine: scripted(() => 'Hi') } })
    expect(world.read(unlucky, LastTurn)).toMatchObject({ stop: 'failed', failure: { kind: 'internal' } })
    expect(world.read(lucky, LastTurn).stop).toBe('done')
  })
})

describe('an agent', () => {
  it('that is paused begins nothing, finishes what is under way, and goes on when it is not', async () => {
    const { world, agent } = worldWith({ tools: [wait] })
    const { models, requests } = behaving(calling({ name: 'wait', arguments: { n: 50 } }))
    const { runner, next } = driven(world, { models, tools: [wait] })
    const called = next('tool-called')
    await runner.start()
    await called
    await runner.change((world) => world.add(agent, Paused))
    await runner.message(agent, 'And?')
    await runner.idle()
    expect(requests).toHaveLength(1)
    expect(transcript(world, agent).slice(2)).toEqual(['tool call-1-0: waited 50', 'user: And?'])
    await runner.change((world) => world.remove(agent, Paused))
    await runner.idle()
    expect(requests).toHaveLength(2)
    expectValid(world, agent)
  })

  it('that has ended takes no message, and the run of its world ends without it', async () => {
    const { world, agent } = worldWith()
    const other = addAgent(world)
    world.add(agent, Terminal)
    const { models } = behaving(() => 'Hi')
    const { runner, told } = driven(world, { models })
    await runner.start()
    await runner.message(agent, 'Are you there?')
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Go'])
    expect(transcript(world, other)).toEqual(['user: Go', 'assistant: Hi'])
    expect(told('input-refused')).toMatchObject([{ kind: 'message', agent, reason: 'the agent has ended' }])
  })

  it('that is despawned at work is worked for no more', async () => {
    const { world, agent } = worldWith({ tools: [wait] })
    const { models } = behaving(calling({ name: 'wait', arguments: { n: 9_000 } }))
    const { runner, next } = driven(world, { models, tools: [wait] })
    const called = next('tool-called')
    await runner.start()
    await called
    await runner.change((world) => world.despawn(agent))
    await runner.idle()
    expect(
      world.entities().filter((entity) => world.componentsOf(entity).some(({ name }) => name === 'ToolCall')),
    ).toEqual([])
    expect(world.nowMs).toBeLessThan(9_000)
  })
})

describe('run', () => {
  it('drives a world to its end, and lets go of it', async () => {
    const { world, agent } = worldWith()
    const stats = await run(world, { models: behaving(() => 'Hi').models, clock: new VirtualClock() })
    expect(stats).toEqual({ ticks: 2, dropped: 0, inFlight: 0 })
    world.append(agent, Conversation, user('Once more'))
    await run(world, { models: behaving(() => 'Hi again').models, clock: new VirtualClock() })
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi', 'user: Once more', 'assistant: Hi again'])
  })

  it('of a world in which nothing is to be done ends at once', async () => {
    const { world } = worldWith({ messages: [], model: 'anthropic/x' })
    expect(await run(world)).toEqual({ ticks: 1, dropped: 0, inFlight: 0 })
  })
})
