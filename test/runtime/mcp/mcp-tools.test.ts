import { agent, type ModelRequest, run, scripted, standardSystems, textOf, World } from 'entia'
import { Conversation } from 'entia/components'
import { mcpTools, mcpToolSource } from 'entia/mcp'
import { addObserver, turn } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { chatting } from '../chat/chatting.ts'
import { connected } from './misfit.ts'

/** Calls one tool after the other, and then ends its turn. */
const calls =
  (...names: readonly string[]) =>
  ({ messages }: ModelRequest) => {
    const done = messages.filter(({ role }) => role === 'tool').length
    const name = names[done]
    return name === undefined ? 'Done.' : { toolCalls: [{ name, arguments: { said: 'hello' } }] }
  }

describe('an MCP server as the tool source of a turn', () => {
  it('has its calls judged and observed; one that kills it fails, and the next starts it again', async () => {
    const connection = await connected()
    const names = ['misfit__echo', 'misfit__dies', 'misfit__echo']
    const asked: unknown[] = []
    const { session } = chatting(calls(...names), {
      approve: ({ operation, tool }, { reason }) => {
        asked.push([tool, operation, reason])
        return tool !== 'misfit__twice'
      },
    })
    const seen: unknown[] = []
    addObserver(session, ({ call, outcome, result, success }) => seen.push([call.tool, outcome, success, result]))
    expect(await turn('go', session, { toolSource: mcpToolSource(connection) })).toMatchObject({ reply: 'Done.' })
    expect(asked).toEqual(names.map((name) => [name, 'unknown', 'default: public/unknown/cli']))
    expect(seen).toEqual([
      ['misfit__echo', 'ran', true, 'echo: hello'],
      ['misfit__dies', 'ran', false, expect.stringContaining('the server ended (SIGKILL)')],
      ['misfit__echo', 'ran', true, 'echo: hello'],
    ])
    const answers = session.history.filter(({ role }) => role === 'tool')
    expect(answers).toHaveLength(3)
  })

  it('runs without a question where it is trusted and says that it only reads', async () => {
    const connection = await connected()
    const { session } = chatting(calls('misfit__echo', 'misfit__pid'))
    await turn('go', session, { toolSource: mcpToolSource(connection, { trusted: true }) })
    const answers = session.history.filter(({ role }) => role === 'tool').map((message) => textOf(message))
    expect(answers).toEqual(['echo: hello', expect.stringContaining('[user declined')])
  })
})

describe('the tools of an MCP server', () => {
  it('serve a Host and the agents of its World', async () => {
    const connection = await connected()
    const tools = mcpTools(connection)
    const world = new World({ name: 'w', systems: standardSystems() })
    const asked = world.spawn(...agent({ model: 'script/m', tools, messages: 'go' }))
    await run(world, { models: { script: scripted(calls('misfit__echo')) }, tools })
    expect(world.read(asked, Conversation).map((message) => textOf(message))).toEqual([
      'go',
      '',
      'echo: hello',
      'Done.',
    ])
  })
})
