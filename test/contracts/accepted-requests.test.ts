import { afterEach, describe, expect, it } from 'vitest'
import type { AssistantMessage, Message, ThinkingBlock } from '../../src/protocol/message.ts'
import { anthropic } from '../../src/models/anthropic.ts'
import { openai, openaiCompatible } from '../../src/models/openai.ts'
import type { ModelProvider } from '../../src/models/port.ts'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import { startChatServer } from '../servers/chat-server.ts'
import { type Handler, inTurn, type LoopbackServer, type Reply } from '../servers/loopback.ts'
import { startResponsesServer } from '../servers/responses-server.ts'
import { failureOf, replyOf, requestOf, resultOf, userSays, worldSays } from './model-calls.ts'

const servers: LoopbackServer[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())))

interface Adapter {
  readonly name: string
  readonly listen: (handler: Handler) => Promise<LoopbackServer>
  readonly make: (baseURL: string) => ModelProvider
  /** What a request says, as a list of messages or items. */
  readonly said: 'messages' | 'input'
}

const adapters: readonly Adapter[] = [
  {
    name: 'anthropic',
    listen: startAnthropicServer,
    make: (baseURL) => anthropic({ baseURL, apiKey: 'key' }),
    said: 'messages',
  },
  {
    name: 'openai',
    listen: startResponsesServer,
    make: (baseURL) => openai({ baseURL, apiKey: 'key' }),
    said: 'input',
  },
  {
    name: 'local',
    listen: startChatServer,
    make: (baseURL) => openaiCompatible({ name: 'local', baseURL }),
    said: 'messages',
  },
]

// These servers refuse what the real APIs refuse.
describe.each(adapters)('a request to $name is accepted', ({ name, listen, make, said }) => {
  const answering = async (...replies: readonly Reply[]) => {
    const server = await listen(inTurn(...replies))
    servers.push(server)
    return { provider: make(server.url), server }
  }
  /** What is sent of a conversation, the user's last word behind it. */
  const sentOf = async (...messages: readonly Message[]): Promise<unknown> => {
    const { provider, server } = await answering({ text: 'Fine.' })
    await replyOf(provider, requestOf(messages))
    return server.requests[0]?.body[said]
  }
  const thinking: ThinkingBlock = { type: 'thinking', provider: name, text: 'Hm.', signature: 's', id: 'rs_1' }
  const replies = (...content: AssistantMessage['content']): Message => ({ role: 'assistant', content })
  const text = (words: string) => ({ type: 'text', text: words }) as const

  it('after a reply that was cut while its model thought', async () => {
    const { provider, server } = await answering(
      { thinking: { text: 'Two and …', seal: 'seal' }, stopsAtLimit: true },
      { text: 'Five.' },
    )
    const messages = [userSays('Add.')]
    messages.push((await replyOf(provider, requestOf(messages))).message, userSays('Go on.'))
    expect((await replyOf(provider, requestOf(messages))).message.content).toMatchObject([{ text: 'Five.' }])
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain('Two and')
  })

  it.each([
    ['is empty', replies()],
    ['is blank', replies(text('\n'))],
    ['is thinking alone', replies(thinking)],
    ['is redacted thinking alone', replies({ ...thinking, text: '', redacted: 'c2VjcmV0' })],
    ['is thinking and a blank text', replies(thinking, text(' '))],
  ])('after a reply that %s, which is left out', async (_, reply) => {
    expect(JSON.stringify(await sentOf(userSays('Add.'), reply, userSays('Go on.')))).not.toMatch(/assistant|reasoning/)
  })

  it.each([
    ['thinks behind its text', replies(text('Let me see.'), thinking)],
    ['thinks behind its call', replies(text('Let me see.'), thinking, thinking)],
    ['ends in a blank text behind its thinking', replies(text('Let me see.'), thinking, text('\n'))],
  ])('after a reply that %s, without that', async (_, reply) => {
    const sent = JSON.stringify(await sentOf(userSays('Add.'), reply, userSays('Go on.')))
    expect(sent).toContain('Let me see.')
    expect(sent).not.toContain('Hm.')
  })

  it.each([
    ['blank', userSays(' \n')],
    ['without content', { role: 'user', content: [] } as const],
    ['blank and the world’s', worldSays('')],
  ])('whose last message is %s', async (_, message) => {
    expect(JSON.stringify(await sentOf(userSays('Hi.'), replies(text('Hello.')), message))).toContain('(empty message)')
    expect(JSON.stringify(await sentOf(message))).toContain('(empty message)')
  })

  it.each([
    ['nothing', []],
    ['a line end alone', [text('\r\n')]],
    ['blanks alone', [text(''), text(' ')]],
  ])('after a result or an error of a tool that is %s, which has a placeholder', async (_, content) => {
    const call = { type: 'tool-call', id: 'a', name: 'add', arguments: {} } as const
    const result: Message = { role: 'tool', callId: 'a', name: 'add', content }
    const sent = (isError: boolean) => sentOf(userSays('Go.'), replies(call), { ...result, isError })
    expect(JSON.stringify(await sent(false))).toContain('[no output]')
    expect(JSON.stringify(await sent(true))).toContain('(no message)')
  })

  it('under a system prompt that is blank', async () => {
    const { provider, server } = await answering({ text: 'Fine.' })
    await replyOf(provider, requestOf(undefined, { system: ' \n' }))
    expect(server.requests).toHaveLength(1)
  })

  it('after thoughts of which nothing came, not even encrypted', async () => {
    const empty: ThinkingBlock = { type: 'thinking', provider: name, text: '', id: 'rs_2' }
    const sent = JSON.stringify(await sentOf(userSays('Add.'), replies(empty, text('Five.')), userSays('Go on.')))
    expect(sent).toContain('Five.')
    expect(sent).not.toContain('rs_2')
  })

  it('after a call of a tool whose name no tool could have', async () => {
    const call = { type: 'tool-call', id: 'a', name: 'rm -rf /', arguments: {} } as const
    const sent = await sentOf(
      userSays('Go.'),
      replies(call, { ...call, id: 'b', name: '' }),
      resultOf('a', 'No.'),
      resultOf('b', 'No.'),
    )
    expect(JSON.stringify(sent)).toContain('rm_-rf__')
    expect(JSON.stringify(sent)).toContain('unnamed')
  })
})

describe('a request to Anthropic', () => {
  it('without any message is refused in a sentence, and not sent', async () => {
    const server = await startAnthropicServer(() => ({ text: 'Fine.' }))
    servers.push(server)
    const failure = await failureOf(anthropic({ baseURL: server.url, apiKey: 'key' }), requestOf([]))
    expect(failure).toMatchObject({ kind: 'invalid-request', message: expect.stringContaining('at least one message') })
    expect(server.requests).toHaveLength(0)
  })
})
