import { type Json, textOf } from 'entia'
import { builtinTools, turn } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { chatting } from '../chat/chatting.ts'

/** What the model reads of a call, and whether a person was asked about it. */
async function called(name: string, given: Json, tool = name) {
  const asked: string[] = []
  const { session } = chatting([{ toolCalls: [{ name: tool, arguments: given as never }] }], {
    tools: builtinTools({ cwd: await tempFolder() }),
    approve: ({ tool: one }) => {
      asked.push(one)
      return { approved: true }
    },
  })
  await turn('Go.', session)
  return { text: textOf(session.history.find(({ role }) => role === 'tool')), asked }
}

describe('a call of a built-in tool with several faults', () => {
  it.for([
    ['read_file', { path: 5, from: 0 }, ['path: expected string', 'from: Too small']],
    ['read_file', { path: 'a', lines: '3', all: true }, ['lines: expected number', 'all: no such field is known']],
    ['list_files', { path: '', recursive: 'yes' }, ['path: Too small', 'recursive: expected boolean']],
    ['grep_files', { pattern: '', path: 4 }, ['pattern: Too small', 'path: expected string']],
    ['git_log', { n: 500, ref: 4, what: 'x' }, ['n: Too big', 'ref: expected string', 'what: no such field is known']],
    ['bash', { command: '', timeoutMs: '5' }, ['command: Too small', 'timeoutMs: expected number']],
    ['write_file', { path: '', content: 7 }, ['path: Too small', 'content: expected string']],
  ] as const)('is told of all of them at once: %s %j', async ([name, given, faults]) => {
    const { text } = await called(name, given)
    expect(text).toContain(`Invalid arguments for '${name}': `)
    for (const fault of faults) expect(text).toContain(fault)
  })

  it('asks no one, whether its fault is a type or a bound', async () => {
    expect((await called('bash', { command: 5 })).asked).toEqual([])
    expect((await called('bash', { command: 'true', timeoutMs: 0 })).asked).toEqual([])
  })
})

describe('the declaration of a built-in tool', () => {
  it('shows the model no bounds, and keeps them', () => {
    const { inputBounds, inputSchema } =
      builtinTools({ cwd: '.' }).find(({ declaration }) => declaration.name === 'git_log')?.declaration ?? {}
    expect(JSON.stringify(inputSchema)).not.toMatch(/minimum|maximum|minLength|additionalProperties/)
    expect(inputBounds).toMatchObject({ additionalProperties: false, properties: { n: { minimum: 1, maximum: 200 } } })
  })
})
