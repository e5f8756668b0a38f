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

  it('are found by a search where they are too many to be shown, of all servers together', async () => {
    const [one, two] = [await connected(), await connected({ name: 'other' })]
    const tools = mcpTools([one, two], { maxDeclared: 30 })
    expect(mcpTools(one, { maxDeclared: 30 }).map(({ declaration }) => declaration.name)).not.toContain('find_tools')
    const requests: ModelRequest[] = []
    const script = scripted((request) => {
      requests.push(request)
      const done = request.messages.filter(({ role }) => role === 'tool').length
      const input = { name: 'other__echo', arguments: { said: 'found' } }
      if (done === 0) return { toolCalls: [{ name: 'find_tools', arguments: { query: 'echo' } }] }
      return done === 1 ? { toolCalls: [{ name: 'call_tool', arguments: input }] } : 'Done.'
    })
    const world = new World({ name: 'w', systems: standardSystems() })
    const asked = world.spawn(...agent({ model: 'script/m', tools, messages: 'go' }))
    await run(world, { models: { script }, tools })
    const [found = '', echoed] = world
      .read(asked, Conversation)
      .flatMap((message) => (message.role === 'tool' ? textOf(message) : []))
    expect(found).toContain('misfit__echo')
    expect(found).toContain('other__echo')
    expect(echoed).toBe('echo: found')
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['find_tools', 'call_tool'])
  })
})
