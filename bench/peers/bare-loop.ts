import type {
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources'
import {
  add,
  type Addition,
  callId,
  question,
  type Run,
  system,
  think,
  toolDescription,
  toolName,
  toolParameters,
  type Work,
} from './work.ts'

type Chunks = AsyncIterable<ChatCompletionChunk>
/** One call of the model, streamed. */
export type Stream = (request: ChatCompletionCreateParamsStreaming) => Chunks | Promise<Chunks>

interface Reply {
  readonly role: 'assistant'
  readonly content: string | null
  readonly tool_calls?: ChatCompletionMessageFunctionToolCall[]
}

type Call = (messages: ChatCompletionMessageParam[]) => Promise<Reply>

const tools = [
  {
    type: 'function' as const,
    function: { name: toolName, description: toolDescription, parameters: toolParameters },
  },
]

/** The loop as anyone would write it without a framework: a call, the tools that it asks for, the next call. */
export function bareLoop(work: Work, stream: Stream): Run {
  const call = work.baseURL === undefined ? callInProcess(work) : callOverHttp(stream)
  return async () => {
    const messages: ChatCompletionMessageParam[] = [
      { role: 'system', content: system },
      { role: 'user', content: question },
    ]
    for (;;) {
      const message = await call(messages)
      messages.push(message)
      const { content, tool_calls: calls = [] } = message
      if (calls.length === 0) return content ?? ''
      for (const { id, function: called } of calls) {
        const result = add(JSON.parse(called.arguments) as Addition)
        messages.push({ role: 'tool', tool_call_id: id, content: result })
      }
    }
  }
}

function callInProcess(work: Work): Call {
  return async (messages) => {
    const last = messages.at(-1)
    const result = last?.role === 'tool' && typeof last.content === 'string' ? last.content : undefined
    const move = await think(result, work)
    if (typeof move === 'string') return { role: 'assistant', content: move }
    const call = { name: toolName, arguments: JSON.stringify(move) }
    return { role: 'assistant', content: null, tool_calls: [{ id: callId(), type: 'function', function: call }] }
  }
}

function callOverHttp(stream: Stream): Call {
  return async (messages) => {
    const request = { model: 'model', messages, tools, stream: true as const, stream_options: { include_usage: true } }
    let text = ''
    const calls: ChatCompletionMessageFunctionToolCall[] = []
    for await (const { choices } of await stream(request)) {
      const { content, tool_calls: pieces = [] } = choices[0]?.delta ?? {}
      text += content ?? ''
      for (const { index, id = '', function: { name = '', arguments: written = '' } = {} } of pieces) {
        const call = (calls[index] ??= { id, type: 'function', function: { name, arguments: '' } })
        call.function.arguments += written
      }
    }
    return calls.length === 0
      ? { role: 'assistant', content: text }
      : { role: 'assistant', content: null, tool_calls: calls }
  }
}
