import { type ModelRequest, textOf, VirtualClock } from 'entia'
import { builtinTools, turn } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeChat, openChat } from '../../../src/runtime/chat/make-chat.ts'
import { SessionFolder } from '../../../src/runtime/chat/session-folder.ts'
import { withRareToolsDeferred } from '../../../src/runtime/tools/rarely-used.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { chatting, script } from '../chat/chatting.ts'

const named = ({ tools }: ModelRequest): readonly string[] => tools.map(({ name }) => name)

async function allTools() {
  const shown = builtinTools({ cwd: await tempFolder() })
  return { shown, deferred: withRareToolsDeferred(shown, ['all']) }
}

describe('tools that few turns need', () => {
  it('are found by a search, and run when they are called through it or by their names', async () => {
    const { deferred: tools } = await allTools()
    const { requests, session } = chatting(
      [
        { toolCalls: [{ name: 'find_tools', arguments: { query: 'commits' } }] },
        { toolCalls: [{ name: 'call_tool', arguments: { name: 'list_subagents', arguments: {} } }] },
        { toolCalls: [{ name: 'list_subagents', arguments: {} }] },
      ],
      { tools },
    )
    await turn('Go.', session)
    const results = session.history.filter(({ role }) => role === 'tool').map((message) => textOf(message))
    expect(results[0]).toMatch(/^git_log\nLists commits, .*\narguments: .*"ref"/)
    expect(results[1]).toBe(results[2])
    expect(results[1]).not.toMatch(/^Error/)
    expect(requests.flatMap(named)).not.toContain('list_subagents')
  })

  it('are named with how to call them, where a subagent has ended', async () => {
    const { deferred: tools } = await allTools()
    const { requests, session } = chatting(
      ({ messages, tools: given }) => {
        if (!given.some(({ name }) => name === 'spawn_subagent')) return 'Found it.'
        const all = messages.map((message) => textOf(message)).join('\n')
        const [, name = '', written = ''] = /Call (\w+)\((.*)\) for the full result/.exec(all) ?? []
        if (all.includes('Found it.')) return 'Done.'
        const hasSpawned = messages.some(({ role }) => role === 'tool')
        if (name === '' && hasSpawned) return 'It is at work.'
        if (name === '')
          return { toolCalls: [{ name: 'spawn_subagent', arguments: { task: 'Look.', preset: 'minimal' } }] }
        return { toolCalls: [{ name, arguments: JSON.parse(`{${written.replaceAll(/(\w+)=/g, '"$1":')}}`) as never }] }
      },
      { tools },
    )
    await turn('Go.', session)
    await session.runner.idle()
    const calls = session.history.flatMap(({ content }) => content.filter(({ type }) => type === 'tool-call'))
    expect(calls.map((block) => ('name' in block ? block.name : ''))).toEqual(['spawn_subagent', 'call_tool'])
    expect(textOf(session.history.findLast(({ role }) => role === 'tool'))).toContain('"inline_content":"Found it."')
    expect(requests.flatMap(named)).not.toContain('collect_subagent')
  })

  it('are not searched in a turn that has tools of its own', async () => {
    const { deferred, shown } = await allTools()
    const ofHost = deferred.filter(({ declaration }) => declaration.world !== true)
    const { requests, session } = chatting([], { tools: ofHost })
    await turn('one', session)
    await turn('two', session, { tools: shown.slice(0, 1) })
    await turn('three', session)
    const [one = [], two, three] = requests.map(named)
    expect(one).toEqual(expect.arrayContaining(['find_tools', 'call_tool']))
    expect(two).toContain('read_file')
    expect(two).not.toContain('find_tools')
    expect(three).toEqual(one)
  })

  it('go on in a chat that was stored when they were shown', async () => {
    const { deferred, shown } = await allTools()
    const folder = new SessionFolder(await tempFolder())
    const made = (tools: typeof deferred) => {
      const { models, requests } = script([])
      const host = { clock: new VirtualClock(), models }
      return { options: { key: 'a', provider: 'script', model: 'm', tools, host }, requests }
    }
    const before = made(shown)
    const session = makeChat(before.options, { folder })
    await turn('one', session)
    await session.close()
    expect(before.requests.flatMap(named)).toContain('js_help')
    const again = made(deferred)
    const later = await openChat('a', again.options, { folder })
    onTestFinished(() => later.close())
    await turn('two', later)
    const [names = []] = again.requests.map(named)
    expect(names).toEqual(expect.arrayContaining(['read_file', 'find_tools', 'call_tool']))
    expect(names).not.toContain('js_help')
  })
})
