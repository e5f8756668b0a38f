import { createOpenAI } from '@ai-sdk/openai'
import { isStepCount, type LanguageModel, tool, ToolLoopAgent } from 'ai'
import { z } from 'zod'
import { add, callId, type Peer, question, system, think, tokens, toolDescription, type Work } from '../work.ts'

/**
 * The AI SDK's agent. In process it generates, which costs it less than to stream; over HTTP it streams, as all peers do.
 */
export const peer: Peer = {
  open(work) {
    const { toolCalls, baseURL } = work
    const agent = new ToolLoopAgent({
      model: baseURL === undefined ? inProcess(work) : createOpenAI({ baseURL, apiKey: 'none' }).chat('model'),
      instructions: system,
      tools: {
        add: tool({
          description: toolDescription,
          inputSchema: z.object({ a: z.number(), b: z.number() }),
          execute: add,
        }),
      },
      stopWhen: isStepCount(toolCalls + 1),
    })
    if (baseURL === undefined) return async () => (await agent.generate({ prompt: question })).text
    return async () => await (await agent.stream({ prompt: question })).text
  },
}

function inProcess(work: Work): Exclude<LanguageModel, string> {
  const usage = {
    inputTokens: { total: tokens.input, noCache: tokens.input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: tokens.output, text: tokens.output, reasoning: 0 },
  }
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'model',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const last = prompt.at(-1)
      const part = last?.role === 'tool' ? last.content[0] : undefined
      const result = part?.type === 'tool-result' && part.output.type === 'text' ? part.output.value : undefined
      const move = await think(result, work)
      if (typeof move === 'string') {
        const finishReason = { unified: 'stop' as const, raw: 'stop' }
        return { content: [{ type: 'text', text: move }], finishReason, usage, warnings: [] }
      }
      const call = { type: 'tool-call' as const, toolCallId: callId(), toolName: 'add', input: JSON.stringify(move) }
      return { content: [call], finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage, warnings: [] }
    },
    doStream: () => Promise.reject(new Error('In process the agent generates.')),
  }
}
