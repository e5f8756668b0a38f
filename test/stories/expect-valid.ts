import type { Message } from 'entia'
import { expect } from 'vitest'

/** Every call of an assistant message is answered exactly once, right behind it, in call order, and the last word is the model's. */
export function expectValid(messages: readonly Message[]): void {
  messages.forEach((message, index) => {
    if (message.role !== 'assistant') return
    const calls = message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []))
    const answers = messages.slice(index + 1, index + 1 + calls.length)
    expect(answers.map((answer) => (answer.role === 'tool' ? answer.callId : answer.role))).toEqual(calls)
  })
  expect(messages.at(-1)?.role).toBe('assistant')
}
