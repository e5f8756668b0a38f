import type { ToolDeclaration } from 'entia'
import { describe, expect, it } from 'vitest'
import { foundTools, meantCall, shownTools, withSearch } from '../../../src/rules/projection/deferred-tools.ts'

function declared(
  name: string,
  description = 'Does it.',
  more: Partial<ToolDeclaration> = { deferred: true },
): ToolDeclaration {
  const inputSchema = { type: 'object', properties: { repository: { type: 'string' } } }
  return { name, description, inputSchema, restart: 'once', ...more }
}

const tools = [
  declared('read_file', 'Reads a file.', {}),
  declared('github__createIssue', 'Opens one.'),
  declared('github__close_issue', 'Closes one.'),
  declared('jira__search', 'Finds issues by their text.'),
]

describe('tools that are found by a search', () => {
  it('are not shown to the model; the same list gives the same one', () => {
    const frozen = Object.freeze([...tools])
    expect(shownTools(frozen).map(({ name }) => name)).toEqual(['read_file'])
    expect(shownTools(frozen)).toBe(shownTools(frozen))
    expect(shownTools([tools[0] as ToolDeclaration])).toHaveLength(1)
  })

  it('are found by words of their names first, then of their descriptions and arguments', () => {
    const found = foundTools(tools, 'create an issue').split('\n\n')
    expect(found.map((text) => text.split('\n')[0])).toEqual([
      'github__createIssue',
      'github__close_issue',
      'jira__search',
    ])
    expect(found[0]).toContain('arguments: {"type":"object","properties":{"repository"')
    expect(foundTools(tools, 'repository')).toContain('jira__search')
  })

  it('are named where none fits, and those that are shown are not among them', () => {
    expect(foundTools(tools, 'weather')).toBe(
      'No tool fits. There are: github__createIssue, github__close_issue, jira__search.',
    )
  })

  it('are shown five at a time, and the others named', () => {
    const many = Array.from({ length: 40 }, (_, index) => declared(`s__issue_${index}`))
    const found = foundTools(many, 'issue').split('\n\n')
    expect(found).toHaveLength(6)
    expect(found.at(-1)).toMatch(/^Others that fit: .* and 10 more\.$/)
  })
})

describe('a search among tools', () => {
  const shown = declared('read_file', 'Reads a file.', {})
  const names = (list: readonly ToolDeclaration[]) => list.map(({ name }) => name)
  const rare = declared('js_help')
  const served = declared('jira__search', 'Finds issues.', { deferred: true, category: 'mcp' })

  it('is there where tools are not shown, and names them, or their server', () => {
    expect(withSearch([shown])).toEqual([shown])
    const searched = withSearch([rare, served, shown, { ...served, name: 'jira__open' }])
    expect(names(searched).slice(-2)).toEqual(['find_tools', 'call_tool'])
    expect(searched.at(-2)?.description).toMatch(/: js_help, those of jira\.$/)
  })

  it('takes the place of an earlier one, and goes with the last tool that it was for', () => {
    const before = [...withSearch([rare]), shown]
    const now = withSearch([...before, served])
    expect(names(now)).toEqual(['js_help', 'find_tools', 'call_tool', 'read_file', 'jira__search'])
    expect(now[1]?.description).toContain('js_help, those of jira.')
    expect(withSearch(before.filter(({ name }) => name !== 'js_help'))).toEqual([shown])
  })

  it('leaves a tool of a program alone that has its name', () => {
    expect(withSearch([declared('find_tools', 'Finds hammers.', {})])).toHaveLength(1)
  })
})

describe('call_tool', () => {
  const call = (name: string, input: unknown) => ({ name: 'call_tool', arguments: { name, arguments: input } }) as never

  it('means the tool that it names, with arguments as an object or as its JSON', () => {
    const meant = { name: 'jira__search', arguments: { text: 'x' } }
    expect(meantCall(tools, call('jira__search', { text: 'x' }))).toEqual(meant)
    expect(meantCall(tools, call('jira__search', '{"text":"x"}'))).toEqual(meant)
    expect(meantCall(tools, call('jira__search', 'x'))).toEqual({ ...meant, arguments: {} })
  })

  it('means itself for a tool that is shown, and for one that is not there', () => {
    for (const name of ['read_file', 'jira__none'])
      expect(meantCall(tools, call(name, {}))).toMatchObject({ name: 'call_tool' })
  })
})
