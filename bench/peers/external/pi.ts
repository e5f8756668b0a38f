import { Agent, type AgentTool, type StreamFn } from '@earendil-works/pi-agent-core'
import { type AssistantMessage, createAssistantMessageEventStream, type Model, type Usage } from '@earendil-works/pi-ai'
import { streamSimple } from '@earendil-works/pi-ai/api/openai-completions'
import {
  add,
  type Addition,
  callId,
  type Peer,
  question,
  system,
  think,
  tokens,
  toolDescription,
  toolName,
  toolParameters,
  type Work,
} from '../work.ts'

const tool: AgentTool<typeof toolParameters> = {
  name: toolName,
  label: toolName,
  description: toolDescription,
  parameters: toolParameters,
  execute: async (_id, addition: Addition) => ({ content: [{ type: 'text', text: add(addition) }], details: {} }),
}

/** pi's agent, on its own adapter for Chat Completions. It always streams, in process as well. */
export const peer: Peer = {
  open(work) {
    const model: Model<'openai-completions'> = {
      id: 'model',
      name: 'model',
      api: 'openai-completions',
      provider: 'openai',
      baseUrl: work.baseURL ?? '',
      reasoning: false,
      input: ['text'],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 1_000_000,
      maxTokens: 4_096,
    }
    const overHttp: StreamFn = (_model, context, options) =>
      streamSimple(model, context, { ...options, apiKey: 'none' })
    const streamFn = work.baseURL === undefined ? inProcess(work) : overHttp
    return async () => {
      const agent = new Agent({ initialState: { systemPrompt: system, model, tools: [tool] }, streamFn })
      await agent.prompt(question)
      const last = agent.state.messages.at(-1)
      if (last?.role !== 'assistant') throw new Error(`The last message is of ${last?.role}.`)
      if (last.errorMessage !== undefined) throw new Error(last.errorMessage)
      return last.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    }
  },
}

function inProcess(work: Work): StreamFn {
  const { input, output } = tokens
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  const usage: Usage = { input, output, cacheRead: 0, cacheWrite: 0, totalTokens: input + output, cost }
  return ({ api, provider, id }, { messages }) => {
    const stream = createAssistantMessageEventStream()
    const last = messages.at(-1)
    const part = last?.role === 'toolResult' ? last.content[0] : undefined
    const result = part?.type === 'text' ? part.text : undefined
    const reply = async (): Promise<void> => {
      const move = await think(result, work)
      const isAnswer = typeof move === 'string'
      const message: AssistantMessage = {
        role: 'assistant',
        content: isAnswer
          ? [{ type: 'text', text: move }]
          : [{ type: 'toolCall', id: callId(), name: toolName, arguments: { ...move } }],
        api,
        provider,
        model: id,
        usage,
        stopReason: isAnswer ? 'stop' : 'toolUse',
        timestamp: Date.now(),
      }
      stream.push({ type: 'start', partial: message })
      stream.push({ type: 'done', reason: isAnswer ? 'stop' : 'toolUse', message })
    }
    void reply()
    return stream
  }
}
