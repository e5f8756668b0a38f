import { defineTool, LastTurn, Llm, type ScriptedReply, type Tool } from 'entia'
import { anthropic, openai, openaiCompatible } from 'entia/models'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { startChatServer } from '../../servers/chat-server.ts'
import { inTurn, type Reply } from '../../servers/loopback.ts'
import { startResponsesServer } from '../../servers/responses-server.ts'
import { expectValid, transcript } from '../../transcript.ts'
import { behaving, settled, worldWith } from './driving.ts'

/** Takes anything, and keeps it. */
function writer(written: unknown[]): Tool {
  return defineTool({
    name: 'write',
    description: 'Writes.',
    input: z.record(z.string(), z.unknown()),
    restart: 'pure',
    run: (input) => {
      written.push(input)
      return 'Written.'
    },
  })
}

/** A model that says these one after the other, and an agent that may write. */
async function writing(...replies: readonly ScriptedReply[]) {
  const written: unknown[] = []
  const write = writer(written)
  const { world, agent } = worldWith({ tools: [write] })
  world.set(agent, Llm, { model: 'scripted/x', maxOutputTokens: 100 })
  let next = 0
  const { models, requests } = behaving(() => replies[next++] ?? 'Done.')
  await settled(world, { models, tools: [write] })
  expectValid(world, agent)
  return { end: world.read(agent, LastTurn), requests, said: transcript(world, agent), written }
}

const call = (written: string, id = 'a') => ({ name: 'write', id, arguments: written })
const cut = { toolCalls: [call('{"text":"Once upon')], stop: 'max-tokens' } as const

describe('a tool call that the token limit cuts', () => {
  const answer =
    "tool a!: Error: 'write' did not run: your reply was cut at the limit of 100 tokens before its arguments were complete. " +
    'Call it again with shorter arguments, or in several calls.'

  it('does not run, and the model reads that it was cut', async () => {
    const { end, said, written } = await writing(cut, { toolCalls: [call('{"n":1}', 'b')] })
    expect(said[2]).toBe(answer)
    expect(written).toEqual([{ n: 1 }])
    expect(end.stop).toBe('done')
  })

  it('ends the turn when the next one is cut as well', async () => {
    const { end, requests, said } = await writing(cut, { ...cut, toolCalls: [call('{"text":"Once upon', 'b')] })
    expect(requests).toHaveLength(2)
    expect(end).toMatchObject({ stop: 'failed', failure: { kind: 'truncated' } })
    expect(end.failure?.message).toMatch(/^2 replies in a row were cut at the token limit .* Raise maxOutputTokens/)
    expect(said.slice(3)).toEqual([
      'assistant: <b write>',
      answer.replace('tool a!', 'tool b!'),
      'assistant: [turn failed: truncated]',
    ])
  })

  it('leaves the other calls of that reply undone', async () => {
    const both = { toolCalls: [call('{"n":1}', 'c'), call('{"n":', 'b')], stop: 'max-tokens' } as const
    const { said, written } = await writing(cut, both)
    expect(said[4]).toBe('tool c!: [not run: the turn was stopped]')
    expect(written).toEqual([])
  })

  it('lets whole calls before it run the first time', async () => {
    const both = { toolCalls: [call('{"n":1}'), call('{"n":', 'b')], stop: 'max-tokens' } as const
    expect((await writing(both)).written).toEqual([{ n: 1 }])
  })

  it('is counted in a row: whole replies between two of them let the turn go on', async () => {
    const { end, requests } = await writing(cut, { toolCalls: [call('{"n":1}')] }, cut, 'Done.')
    expect(end.stop).toBe('done')
    expect(requests).toHaveLength(4)
  })

  it('is cut, too, where nothing of its arguments was written yet', async () => {
    const { said, written } = await writing({ toolCalls: [call('')], stop: 'max-tokens' })
    expect(said[2]).toBe(answer)
    expect(written).toEqual([])
  })
})

describe.each([
  ['anthropic', startAnthropicServer, (baseURL: string) => anthropic({ baseURL, apiKey: 'key' })],
  ['openai', startResponsesServer, (baseURL: string) => openai({ baseURL, apiKey: 'key' })],
  ['local', startChatServer, (baseURL: string) => openaiCompatible({ name: 'local', baseURL })],
])('a model behind %s whose calls are cut', (name, listen, make) => {
  it.each(['{"text":"Once upon', ''])('again is asked no third time: %j', async (written) => {
    const cutReply: Reply = { toolCalls: [{ id: 'a', name: 'write', arguments: written }], stopsAtLimit: true }
    const server = await listen(
      inTurn(cutReply, { ...cutReply, toolCalls: [{ id: 'b', name: 'write', arguments: written }] }),
    )
    onTestFinished(() => server.close())
    const ran: unknown[] = []
    const write = writer(ran)
    const { world, agent } = worldWith({ model: `${name}/small`, tools: [write] })
    await settled(world, { models: { [name]: make(server.url) }, tools: [write] })
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'failed', failure: { kind: 'truncated' } })
    expect(transcript(world, agent)[2]).toMatch(/^tool a!: Error: 'write' did not run: your reply was cut/)
    expect(server.requests).toHaveLength(2)
    expect(ran).toEqual([])
  })
})
