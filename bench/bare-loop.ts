import { defineTool, type Message, type ModelProvider, type ModelReply, type ToolCallBlock } from 'entia'
import { z } from 'zod'

/** A model in process: a function of the conversation so far. */
export type Think = (messages: Pick<readonly Message[], 'length' | 'at'>) => Promise<ModelReply>

/** About 0.1 kB of content. */
export const sentence =
  'The lighthouse keeper counts the ships that pass by night and writes their names in a book of grey linen.'

/** What the tool does, for the framework and for the bare loop. */
export function lookUp({ page }: { readonly page: number }): string {
  return `Page ${page}. ${sentence}`
}

/** The tool that the fake model calls. */
export const lookUpTool = defineTool({
  name: 'look_up',
  description: 'Reads one page of the book.',
  input: z.object({ page: z.int(), reason: z.string() }),
  restart: 'pure',
  run: lookUp,
})

/**
 * A fake model that asks for a tool so many times a turn, one call a step, and then answers with a text. It counts for one
 * agent at a time; without calls it serves any number.
 */
export function fakeModel(callsPerTurn: number): Think {
  let step = 0
  return async ({ length }) => {
    const usage = { input: length, output: 25 }
    if (step++ < callsPerTurn) {
      const call = {
        type: 'tool-call',
        id: `call-${length}`,
        name: 'look_up',
        arguments: { page: step, reason: sentence },
      } as const
      return { message: { role: 'assistant', content: [call] }, stop: 'tool-calls', usage }
    }
    step = 0
    return { message: { role: 'assistant', content: [{ type: 'text', text: sentence }] }, stop: 'end', usage }
  }
}

/** The same model for the framework. */
export function provider(think: Think): ModelProvider {
  return { retry: false, call: async ({ messages }) => ({ ok: true, value: await think(messages) }) }
}

/** A conversation that ends with the assistant's word. */
export function conversation(messages: number): Message[] {
  return Array.from({ length: messages }, (_, index): Message => {
    const content = [{ type: 'text' as const, text: `${index}. ${sentence}` }]
    return index % 2 === 0 ? { role: 'user', content } : { role: 'assistant', content }
  })
}

/** A turn of an agent without a framework: calls the model and the tools that it asks for, until it answers. */
export async function bareTurn(think: Think, messages: Message[], said: string): Promise<void> {
  messages.push({ role: 'user', content: [{ type: 'text', text: said }] })
  for (;;) {
    const { message } = await think(messages)
    messages.push(message)
    const calls = message.content.filter((block): block is ToolCallBlock => block.type === 'tool-call')
    if (calls.length === 0) return
    for (const { id, name, arguments: input } of calls) {
      const text = lookUp({ page: Number(input['page']) })
      messages.push({ role: 'tool', callId: id, name, content: [{ type: 'text', text }] })
    }
  }
}
