import { expect } from 'vitest'
import type { FileBlock, Message } from '../../src/protocol/message.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import type { ModelRequest } from '../../src/models/port.ts'
import type { JsonBody } from '../servers/loopback.ts'
import { requestOf, resultOf, userSays, worldSays } from './model-calls.ts'

export const add: ToolDeclaration = {
  name: 'add',
  description: 'Adds.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
  restart: 'pure',
}

/** The model asks for 2 + 3. */
export function callsAdd(id: string): Extract<Message, { role: 'assistant' }> {
  return { role: 'assistant', content: [{ type: 'tool-call', id, name: 'add', arguments: { a: 2, b: 3 } }] }
}

export const picture = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const satisfies FileBlock

/** A request body without its cache breakpoints. */
export function withoutMarks(body: JsonBody): JsonBody {
  return JSON.parse(JSON.stringify(body, (key, value: unknown) => (key === 'cache_control' ? undefined : value)))
}

/**
 * Each body's messages are, marks aside, the first messages of the next body, and nothing else differs.
 *
 * @param tailless the bodies of the same requests without their tails, which are no part of what is shared
 */
export function expectPrefixes(tailless: readonly JsonBody[], bodies: readonly JsonBody[], field: string): void {
  for (const [index, body] of tailless.slice(0, -1).entries()) {
    const { [field]: shared, ...rest } = withoutMarks(body)
    const { [field]: messages, ...others } = withoutMarks(bodies[index + 1] ?? {})
    const prefix = JSON.stringify(shared).slice(0, -1)
    expect(JSON.stringify(messages).slice(0, prefix.length)).toBe(prefix)
    expect(others).toEqual(rest)
  }
}

/** Six steps of a conversation, every other with a tail. */
export function steps(): ModelRequest[] {
  const messages: Message[] = [userSays('Add.')]
  return Array.from({ length: 6 }, (_, step) => {
    const tail = step % 2 === 0 ? [worldSays(`Step ${step}.`)] : []
    const request = requestOf([...messages], { system: 'Be brief.', tools: [add], tail })
    messages.push(callsAdd(`call_${step}`), resultOf(`call_${step}`, String(step)))
    if (step === 3) messages.push(worldSays('A file has changed.'), userSays('Go on.'))
    return request
  })
}

export function withoutTail(request: ModelRequest): ModelRequest {
  return { ...request, tail: [] }
}

/** A schema that leaves nothing open, so that a provider can enforce it. */
export const closedSchema = {
  type: 'object',
  properties: { sum: { type: 'integer' } },
  required: ['sum'],
  additionalProperties: false,
}
