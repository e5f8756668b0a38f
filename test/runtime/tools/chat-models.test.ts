import { type ModelProvider, scripted } from 'entia'
import { anthropic, ollama, openai } from 'entia/models'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { startChatServer } from '../../servers/chat-server.ts'
import { startPlainServer } from '../../servers/plain-server.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { type Calls, toolsIn } from './tools-in.ts'

const answer = () => ({ text: '' })

async function callsWith(providers: Readonly<Record<string, ModelProvider>>): Promise<Calls> {
  return toolsIn(await tempFolder(), { providers, tools: ['chat'] })
}

/** A server that takes a request and never answers it. */
async function silentServer(): Promise<{ readonly url: string; readonly asked: Promise<void> }> {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  return { url: (await startPlainServer(() => resolve())).url, asked }
}

describe('chat_models', () => {
  it('lists what each provider lists; one that fails is a line', async () => {
    vi.stubEnv('OPENAI_API_KEY', '')
    onTestFinished(() => void vi.unstubAllEnvs())
    const [messages, chat] = await Promise.all([startAnthropicServer(answer), startChatServer(answer)])
    const { url } = await startPlainServer((_, response) => response.writeHead(500).end('out of order'))
    const call = await callsWith({
      anthropic: anthropic({ baseURL: messages.url, apiKey: 'k' }),
      ollama: ollama({ baseURL: chat.url }),
      openai: openai(),
      broken: openai({ baseURL: url, apiKey: 'k', name: 'broken' }),
      scripted: scripted(() => 'Hello.'),
    })
    expect((await call('chat_models', {})).split('\n')).toEqual([
      'anthropic: 2 models',
      '  anthropic/small',
      '  anthropic/large',
      'ollama: 2 models',
      '  ollama/small',
      '  ollama/large',
      expect.stringMatching(/^openai: .*OPENAI_API_KEY/),
      expect.stringMatching(/^broken: .*500.*out of order/),
      'scripted: it cannot list its models.',
    ])
  })

  it('asks one provider where it is named, and says which there are', async () => {
    const { url } = await startChatServer(answer)
    const call = await callsWith({ ollama: ollama({ baseURL: url }), scripted: scripted(() => 'Hello.') })
    expect(await call('chat_models', { provider: 'ollama' })).toBe('ollama: 2 models\n  ollama/small\n  ollama/large')
    expect(await call('chat_models', { provider: 'nobody' })).toBe(
      'Error: there is no provider nobody. There are: ollama, scripted.',
    )
  })

  it('waits 10 s for a provider, and no longer', async () => {
    const tooLate = new AbortController()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(tooLate.signal)
    onTestFinished(() => timeout.mockRestore())
    const { url, asked } = await silentServer()
    const call = await callsWith({ ollama: ollama({ baseURL: url }) })
    const listed = call('chat_models', {})
    await asked
    tooLate.abort(new DOMException('It took too long.', 'TimeoutError'))
    expect(await listed).toBe('ollama: no answer within 10 s')
    expect(timeout).toHaveBeenCalledWith(10_000)
  })

  it('ends when it is cancelled', async () => {
    const { url, asked } = await silentServer()
    const abort = new AbortController()
    const call = await callsWith({ ollama: ollama({ baseURL: url }) })
    const listed = call('chat_models', {}, { signal: abort.signal })
    await asked
    abort.abort(new Error('cancelled'))
    await expect(listed).rejects.toThrow('cancelled')
  })
})

describe('chat', () => {
  it('outside of a world says where it runs', async () => {
    expect(await (await callsWith({}))('chat', { prompt: 'x' })).toBe(
      'Error: chat is answered by the systems of a world: it runs for its agents alone.',
    )
  })
})
