import { expect } from 'vitest'
import type { FileBlock, Message } from '../../components/message.ts'
import type { ToolDeclaration } from '../../components/tool-declaration.ts'
import type { JsonBody } from '../servers/loopback.ts'

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
