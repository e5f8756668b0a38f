import { describe, expect, it } from 'vitest'
import type { Message, ToolCallBlock } from '../../src/protocol/message.ts'
import { folderParts } from '../../src/cli/reader/folder-parts.ts'
import { leadBehaviour } from '../../src/cli/reader/lead-behaviour.ts'
import { globOf } from '../../src/cli/reader/listing.ts'
import type { Json } from '../../src/index.ts'
import { LogView } from '../../src/index.ts'

describe('the parts of a folder', () => {
  it('are its entries, if these are few', () => {
    expect(folderParts(['docs/', 'src/', 'README.md'])).toEqual([['docs'], ['src'], ['README.md']])
    expect(folderParts([])).toEqual([])
  })

  it('are at most five: folders are dealt out evenly, and the files beside them are one part', () => {
    const folders = Array.from({ length: 9 }, (_, index) => `folder${index}/`)
    expect(folderParts(['a.md', ...folders, 'z.md'])).toEqual([
      ['folder0', 'folder1'],
      ['folder2', 'folder3'],
      ['folder4', 'folder5'],
      ['folder6', 'folder7', 'folder8'],
      ['a.md', 'z.md'],
    ])
    expect(folderParts(folders)).toHaveLength(5)
    expect(folderParts(folders).flat()).toHaveLength(9)
  })

  it('are one where there is nothing to split by', () => {
    expect(folderParts(['1', '2', '3', '4', '5', '6'])).toEqual([[]])
  })

  it('become a pattern in which no name can command anything', () => {
    expect(globOf([])).toBeUndefined()
    expect(globOf(['docs'])).toBe('/docs')
    expect(globOf(['a,b {c}', 'd*', 'été.md'])).toBe('{/a?b??c?,/d?,/été.md}')
  })
})

describe('the lead', () => {
  const context = { attempt: 1, signal: new AbortController().signal }
  const rest = { model: 'reader', system: '', tools: [], tail: [], options: {} }
  const reply = (...messages: readonly Message[]) => leadBehaviour({ ...rest, messages: LogView.of(messages) }, context)
  const asked: Message = { role: 'user', content: [{ type: 'text', text: 'Who is killed?' }] }
  let count = 0
  const answered = (name: string, input: ToolCallBlock['arguments'], answer: Json, isError = false): Message[] => {
    const callId = `call-${count++}`
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
    return [
      { role: 'assistant', content: [{ type: 'tool-call', id: callId, name, arguments: input }] },
      { role: 'tool', callId, name, content: [{ type: 'text', text }], isError },
    ]
  }
  const launched = (sessionId: string, place: string): Message[] =>
    answered('subagent', { prompt: `Who is killed?\n\nLook only in: ${place}` }, { session_id: sessionId })
  const told = (...lines: readonly string[]): Message => ({
    role: 'system',
    content: [{ type: 'text', text: ['Background subagent updates:', ...lines].join('\n') }],
  })
  const read = (sessionId: string, method: 'full' | 'summary', content: string | null): Message[] =>
    answered('subagent_result', { session_id: sessionId, read_method: method }, { inline_content: content })

  const out = [
    asked,
    ...answered('list_files', {}, 'docs/\nsrc/'),
    ...launched('s-1', 'docs'),
    ...launched('s-2', 'src'),
  ]
  const done = [
    ...out,
    ...answered('subagent_wait', { mode: 'all' }, 'Waiting for background subagents.'),
    told('- s-2 succeeded. Call subagent_result(…).', '- s-1 succeeded. Call subagent_result(…).'),
  ]
  const summary = '1 file searched, 1 place read. Found: killed.'
  const nothing = '2 files searched, 0 places read. Not found: killed.'
  const quote = 'docs/a.md:4-5\n> Who is killed\n> is killed.'

  it('sends a researcher into each part, with the question and where to look', () => {
    expect(reply(asked, ...answered('list_files', {}, 'docs/\na.md'))).toMatchObject({
      toolCalls: [
        {
          name: 'subagent',
          arguments: { category: 'researcher', prompt: 'Who is killed?\n\nLook only in: docs', background: true },
        },
        { name: 'subagent', arguments: { prompt: 'Who is killed?\n\nLook only in: a.md' } },
      ],
    })
  })

  it('looks into a folder that is all there is', () => {
    expect(reply(asked, ...answered('list_files', {}, 'all/'))).toMatchObject({
      toolCalls: [{ name: 'list_files', arguments: { path: 'all/' } }],
    })
  })

  it('sends nobody into an empty folder, or one that it cannot list', () => {
    expect(reply(asked, ...answered('list_files', {}, '[no entries]'))).toBe('There are no files in the folder.')
    expect(reply(asked, ...answered('list_files', {}, 'Error: no.', true))).toBe(
      'The folder cannot be listed. Error: no.',
    )
  })

  it('sleeps until it was told of all of them', () => {
    const sleeps = { toolCalls: [{ name: 'subagent_wait', arguments: { mode: 'all' } }] }
    expect(reply(...out)).toMatchObject(sleeps)
    expect(reply(...out, told('- s-1 succeeded. Call …'))).toMatchObject(sleeps)
  })

  it('reads what they say in short, and in full where something was read', () => {
    expect(reply(...done)).toMatchObject({
      toolCalls: ['s-1', 's-2'].map((id) => ({ arguments: { session_id: id, read_method: 'summary' } })),
    })
    expect(reply(...done, ...read('s-1', 'summary', summary), ...read('s-2', 'summary', nothing))).toMatchObject({
      toolCalls: [{ name: 'subagent_result', arguments: { session_id: 's-1', read_method: 'full' } }],
    })
  })

  it('asks whoever found the best place what follows there, once, and reports both', () => {
    const known = [
      ...done,
      ...read('s-1', 'summary', summary),
      ...read('s-2', 'summary', nothing),
      ...read('s-1', 'full', quote),
    ]
    const question = { id: 's-1', prompt: 'What follows behind docs/a.md:5?' }
    expect(reply(...known)).toMatchObject({ toolCalls: [{ name: 'query_subagent', arguments: question }] })
    const next = 'docs/a.md:7\n> Nobody.'
    expect(reply(...known, ...answered('query_subagent', question, next))).toBe(
      `This is where most is said of killed:\n\n${quote}\n\n${next}\n\n` +
        '3 files searched, 1 place read. I am a script: I find and quote; what follows from it is yours to judge.',
    )
  })

  it('quotes no line twice', () => {
    const known = [
      ...done,
      ...read('s-1', 'summary', summary),
      ...read('s-2', 'summary', summary),
      ...read('s-1', 'full', quote),
      ...read('s-2', 'full', 'docs/a.md:5-6\n> is killed.\n> So.\n\nsrc/b.ts:1\n> kill()'),
      ...answered('query_subagent', {}, 'docs/a.md:6\n> So.'),
    ]
    const report = reply(...known)
    expect(typeof report === 'string' && report.match(/^\S+:\d+.*$/gm)).toEqual([
      'docs/a.md:4-5',
      'docs/a.md:6',
      'src/b.ts:1',
    ])
  })

  it('reports without those who failed, and says why', () => {
    const known = [
      ...out,
      ...answered(
        'subagent',
        { prompt: 'Who is killed?\n\nLook only in: bin' },
        'Error: Delegation limit reached: sessions',
      ),
      told('- s-1 failed: boom. Call subagent_result(session_id="s-1") for details.', '- s-2 cancelled.'),
    ]
    expect(reply(...known)).toBe(
      'Nothing could be searched. Of docs there is nothing: boom. ' +
        'Of src there is nothing: cancelled. Of bin there is nothing: Error: Delegation limit reached: sessions.',
    )
  })

  it('does not sleep forever if nobody is there', () => {
    const nobody = answered('subagent_wait', { mode: 'all' }, 'No background subagent sessions to wait for.')
    expect(reply(...out, ...nobody)).toBe(
      'Nothing could be searched. Of docs there is nothing: nobody came back. Of src there is nothing: nobody came back.',
    )
  })

  it('decides from the conversation alone: the same one has the same answer', () => {
    expect(reply(...done)).toEqual(reply(...done))
  })
})
