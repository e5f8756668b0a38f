import type { ModelRequest, ScriptedReply } from 'entia'

/** How often the model has spoken so far: what a scripted agent decides by. */
export function spoken({ messages }: ModelRequest): number {
  return messages.filter(({ role }) => role === 'assistant').length
}

/** An answer that calls tools, each by its name with its arguments. */
export function calls(...toolCalls: readonly (readonly [name: string, input: object])[]): ScriptedReply {
  return { toolCalls: toolCalls.map(([name, input]) => ({ name, arguments: input as never })) }
}
