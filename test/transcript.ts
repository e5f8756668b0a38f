import { Conversation, type Entity, type Message, textOf, type World } from 'entia'
import { expect } from 'vitest'

/** A conversation as one reads it: `user: …`, `assistant: … <call-1 add>`, `tool call-1: …`, with `!` behind an error. */
export function transcript(world: World, agent: Entity): string[] {
  return (world.get(agent, Conversation) ?? []).map(line)
}

function line(message: Message): string {
  const said = textOf(message)
  if (message.role === 'tool') return `tool ${message.callId}${message.isError === true ? '!' : ''}: ${said}`
  const calls = message.content.flatMap((block) => (block.type === 'tool-call' ? [`<${block.id} ${block.name}>`] : []))
  return [`${message.role}:`, ...(said === '' ? [] : [said]), ...calls].join(' ')
}

/** Holds of every conversation that a provider takes: each call has one result, right behind it and in call order. */
export function expectValid(world: World, agent: Entity): void {
  const open: string[] = []
  for (const message of world.get(agent, Conversation) ?? []) {
    if (message.role === 'tool') expect(message.callId).toBe(open.shift())
    else expect(open, `answered before "${line(message)}"`).toEqual([])
    if (message.role !== 'assistant') continue
    for (const block of message.content) if (block.type === 'tool-call') open.push(block.id)
  }
  expect(open, 'answered at the end').toEqual([])
}
