import { describe, expect, it } from 'vitest'
import type { Message, ToolCallBlock } from '../../src/protocol/message.ts'
import { globOf } from '../../examples/reader/calls.ts'
import { lead, split } from '../../examples/reader/lead.ts'
import type { Json } from '../../src/index.ts'
import { LogView } from '../../src/index.ts'

describe('the parts of a folder', () => {
  it('are its entries, if these are few', () => {
    expect(split(['docs/', 'src/', 'README.md'])).toEqual([['docs'], ['src'], ['README.md']])
    expect(split([])).toEqual([])
  })

  it('are at most five: folders are dealt out evenly, and the files beside them are one part', () => {
    const folders = Array.from({ length: 9 }, (_, index) => `folder${index}/`)
    expect(split(['a.md', ...folders, 'z.md'])).toEqual([
      ['folder0', 'folder1'],
      ['folder2', 'folder3'],
      ['folder4', 'folder5'],
      ['folder6', 'folder7', 'folder8'],
      ['a.md', 'z.md'],
    ])
    expect(split(folders)).toHaveLength(5)
    expect(split(folders).flat()).toHaveLength(9)
  })

  it('are one where there is nothing to split by', () => {
    expect(split(['1', '2', '3', '4', '5', '6'])).toEqual([[]])
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
  const reply = (...messages: readonly Message[]) => lead({ ...rest, messages: LogView.of(messages) }, context)
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

  it('sends nobody into an empty folder, or one that it cannot list', () => {
    expect(reply(asked, ...answered('list_files', {}, '[no entries]'))).toBe('There are no files in the folder.')
    expect(reply(asked, ...answered('list_files', {}, 'Error: no.', true))).toBe(
      'The folder cannot be listed. Error: no.',
    )
  })

  it('sleeps until all of them are done', () => {
    expect(reply(...out)).toMatchObject({ toolCalls: [{ name: 'subagent_wait', arguments: { mode: 'all' } }] })
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
    const question = { id: 's-1', prompt: 'What follows after docs/a.md:5?' }
    expect(reply(...known)).toMatchObject({ toolCalls: [{ name: 'query_subagent', arguments: question }] })
    const next = 'docs/a.md:7\n> Nobody.'
    expect(reply(...known, ...answered('query_subagent', question, next))).toBe(
      `These lines say most about killed:\n\n${quote}\n\n${next}\n\n` +
        '3 files searched, 1 place read. I am a script: I find and quote lines, I do not interpret them.',
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
    const launches = answered('subagent', { prompt: 'Who is killed?\n\nLook only in: bin' }, 'Error: Limit reached.')
    const failed = (sessionId: string, error: string | null): Message[] =>
      answered('subagent_result', { session_id: sessionId, read_method: 'summary' }, { inline_content: null, error })
    const waited = answered('subagent_wait', { mode: 'all' }, 'Waiting for background subagents.')
    expect(reply(...out, ...launches, ...waited, ...failed('s-1', 'boom'), ...failed('s-2', null))).toBe(
      'Nothing could be searched. Nothing from docs: boom. ' +
        'Nothing from src: no result. Nothing from bin: Error: Limit reached.',
    )
  })

  it('reports at once if no researcher could be launched', () => {
    const refused = answered('subagent', { prompt: 'Who is killed?\n\nLook only in: bin' }, 'Error: Limit reached.')
    expect(reply(asked, ...answered('list_files', {}, 'bin/'), ...refused)).toBe(
      'Nothing could be searched. Nothing from bin: Error: Limit reached.',
    )
  })

  it('says which words the quoted lines do not have', () => {
    const other: Message = { role: 'user', content: [{ type: 'text', text: 'Is a zebra killed?' }] }
    const known = [...done.slice(1), ...read('s-1', 'summary', summary), ...read('s-2', 'summary', nothing)]
    const report = reply(
      other,
      ...known,
      ...read('s-1', 'full', quote),
      ...answered('query_subagent', {}, 'Nothing follows.'),
    )
    expect(report).toContain('3 files searched, 1 place read. They do not mention zebra.')
  })

  it('decides from the conversation alone: the same one has the same answer', () => {
    expect(reply(...done)).toEqual(reply(...done))
  })
})
