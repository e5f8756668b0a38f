import { Conversation, type ModelRequest, textOf } from 'entia'
import { describe, expect, it } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { behaving, driven, gate, worldWith } from './driving.ts'
import { tool } from './tools.ts'

const look = tool('look', () => 'nothing there')

/** A model whose calls wait until the test lets each of them answer. */
function patient(answers: readonly (string | readonly string[])[]) {
  const calls = answers.map(() => ({ asked: gate<ModelRequest>(), go: gate() }))
  let index = 0
  const made = behaving(async (request) => {
    const [answer, call] = [answers[index], calls[index]]
    index++
    call?.asked.resolve(request)
    await call?.go.promise
    return typeof answer === 'string' ? answer : { toolCalls: (answer ?? []).map((name) => ({ name })) }
  })
  return { ...made, calls }
}

function expectPrefixesToHold(requests: readonly ModelRequest[]): void {
  for (const [index, { messages }] of requests.entries()) {
    expect(requests[index + 1]?.messages.slice(0, messages.length) ?? [...messages]).toEqual([...messages])
  }
}

describe('a message to an agent at work', () => {
  it('that comes while its model answers for good joins the next step of the same turn', async () => {
    const { world, agent } = worldWith()
    const { models, requests, calls } = patient(['First.', 'Second.'])
    const { runner, told } = driven(world, { models })
    await runner.start()
    await calls[0]?.asked.promise
    await runner.message(agent, 'And this?')
    calls.forEach(({ go }) => go.resolve())
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: First.', 'user: And this?', 'assistant: Second.'])
    expect(requests.map(({ messages }) => messages.map(textOf))).toEqual([['Go'], ['Go', 'First.', 'And this?']])
    expect(told('turn-ended')).toMatchObject([{ stop: 'done', steps: 2 }])
    expectPrefixesToHold(requests)
    expect(told('prefix-broken')).toEqual([])
  })

  it('that comes while its model asks for tools stands behind the results', async () => {
    const { world, agent } = worldWith({ tools: [look] })
    const { models, requests, calls } = patient([['look', 'look'], 'Done.'])
    const { runner, told } = driven(world, { models, tools: [look] })
    await runner.start()
    await calls[0]?.asked.promise
    await runner.message(agent, 'Look twice!')
    calls.forEach(({ go }) => go.resolve())
    await runner.idle()
    expect(transcript(world, agent)).toEqual([
      'user: Go',
      'assistant: <call-1-0 look> <call-1-1 look>',
      'tool call-1-0: nothing there',
      'tool call-1-1: nothing there',
      'user: Look twice!',
      'assistant: Done.',
    ])
    expectValid(world, agent)
    expectPrefixesToHold(requests)
    expect(told('prefix-broken')).toEqual([])
  })

  it('that comes while tools run stands behind their results, whichever come before it', async () => {
    const [slow, started] = [gate<string>(), gate()]
    const dig = tool('dig', () => (started.resolve(), slow.promise))
    const { world, agent } = worldWith({ tools: [look, dig] })
    const { models, requests, calls } = patient([['look', 'dig', 'look'], 'Done.'])
    const { runner, next, told } = driven(world, { models, tools: [look, dig] })
    const answered = next('tool-answered')
    await runner.start()
    calls.forEach(({ go }) => go.resolve())
    await started.promise
    await answered
    await runner.message(agent, 'How deep?')
    await runner.message(agent, 'Tell me!')
    expect(requests).toHaveLength(1)
    slow.resolve('10 m')
    await runner.idle()
    expect(transcript(world, agent).slice(2)).toEqual([
      'tool call-1-0: nothing there',
      'tool call-1-1: 10 m',
      'tool call-1-2: nothing there',
      'user: How deep?',
      'user: Tell me!',
      'assistant: Done.',
    ])
    expect(requests).toHaveLength(2)
    expectPrefixesToHold(requests)
    expect(told('prefix-broken')).toEqual([])
  })

  it('is not seen by a request that was made before it, even in the same array', async () => {
    const { world, agent } = worldWith()
    const { models, requests, calls } = patient(['First.', 'Second.'])
    const { runner } = driven(world, { models })
    await runner.start()
    await calls[0]?.asked.promise
    await runner.message(agent, 'And this?')
    expect(world.read(agent, Conversation)).toHaveLength(2)
    expect(requests[0]?.messages).toHaveLength(1)
    calls.forEach(({ go }) => go.resolve())
    await runner.idle()
  })
})

describe('what breaks a prefix', () => {
  it('is named when the next request is made', async () => {
    const { world, agent } = worldWith()
    const { models } = behaving(() => 'Hi')
    const { runner, told } = driven(world, { models })
    await runner.start()
    await runner.idle()
    await runner.change((world) => world.splice(agent, Conversation, 0, 1, [{ role: 'user', content: [] }]))
    await runner.message(agent, 'More')
    await runner.idle()
    expect(told('prefix-broken')).toMatchObject([{ agent, component: 'Conversation' }])
  })
})
