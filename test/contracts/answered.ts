import type { Message } from 'entia'
import { type JsonBody, listOf } from '../servers/loopback.ts'
import { type Said, startScriptedServer } from '../servers/scripted-server.ts'
import { call, joined, replyOf, requestOf, resultOf, userSays } from './model-calls.ts'
import type { WireOfOthers } from './wires-of-others.ts'

/** The assistant's messages of a request, or the items that are not the user's. */
export function repliesIn(body: JsonBody | undefined, { field }: WireOfOthers): readonly JsonBody[] {
  return listOf(body?.[field]).filter(({ role, type }) => {
    return role === 'assistant' || (role === undefined && type !== 'function_call_output')
  })
}

/**
 * A reply to what a server says, byte for byte, what listeners hear of it, and what goes back of it: to the server itself, and
 * to one of another name.
 */
export async function answered(wire: WireOfOthers, said: string | Said) {
  const server = await startScriptedServer((_, count) => (count === 1 ? said : wire.text('Fine.')))
  const provider = wire.make(server.url)
  const { deltas, outcome } = await call(provider)
  if (!outcome.ok) throw new Error(`It failed: ${outcome.failure.message}`)
  const { message, stop, usage } = outcome.value
  const results = message.content.flatMap((block) => (block.type === 'tool-call' ? [resultOf(block.id, '3')] : []))
  const messages: Message[] = [userSays('Go.'), { ...message, model: 'mine/small' }, ...results, userSays('Thanks.')]
  for (const name of ['mine', 'another']) await replyOf(provider, requestOf(messages, { provider: name }))
  const [, own, foreign] = server.bodies
  return {
    content: message.content,
    stop,
    usage,
    heard: { text: joined(deltas, 'text'), args: joined(deltas, 'tool-arguments') },
    back: repliesIn(own, wire),
    foreign: JSON.stringify(foreign),
  }
}
