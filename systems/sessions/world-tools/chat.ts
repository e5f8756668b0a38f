import { z } from 'zod'
import { Llm } from '../../../components/agent/llm.ts'
import { parseModel } from '../../../src/protocol/model-name.ts'
import { chatDeclaration } from '../../../src/rules/delegation/chat-declaration.ts'
import { lazily } from '../../../src/base/lazily.ts'
import { launchSubtask } from '../subtasks.ts'
import { filledText, worldTool } from './world-tool.ts'

const timeoutMs = 600_000

const chatInput = lazily(() =>
  z.strictObject({
    prompt: filledText(),
    model: filledText().optional(),
    system: z.string().optional(),
    maxTokens: z.number().int().positive().optional(),
  }),
)

/** `chat`: one call of a model in a subtask without tools, which spends from the agent's budget. Its text is the answer. */
export const chat = worldTool(chatDeclaration.name, chatInput, (world, asked, { agent, call }) => {
  const { maxTokens, model: named, prompt, system = '' } = asked
  const { model: own } = world.read(agent, Llm)
  const model = named === undefined ? own : named.includes('/') ? named : `${parseModel(own).provider}/${named}`
  launchSubtask(world, call, {
    agent,
    answer: 'text',
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    maxSteps: 1,
    model,
    name: chatDeclaration.name,
    systemPrompt: system,
    timeoutMs,
    tools: [],
    userMessage: prompt,
  })
  return undefined
})
