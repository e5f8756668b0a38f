import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { Screen } from '../../src/cli/terminal/screen.ts'
import { callText, resultText } from '../../src/cli/terminal/tool-text.ts'
import type { JsonObject } from '../../src/index.ts'
import { Terminal } from './terminal.ts'

function screenOn(columns: number, rows?: number): { readonly terminal: Terminal; readonly screen: Screen } {
  const terminal = new Terminal(columns, rows)
  return { terminal, screen: new Screen(terminal, { isDumb: false }) }
}

function lines(...texts: readonly string[]) {
  return texts.map((text) => [{ text }])
}

/** What a terminal shows of a text, on lines of so many columns; one more stays free. */
function wrapped(text: string, columns: number): string[] {
  const { terminal, screen } = screenOn(columns + 1)
  screen.text(text)
  return terminal.shown.slice(0, -1)
}

function streamed(pieces: readonly string[], columns: number): string[] {
  const { terminal, screen } = screenOn(columns + 1)
  for (const piece of pieces) screen.stream(piece)
  screen.endStream()
  return terminal.shown.slice(0, -1)
}

describe('a text on a terminal', () => {
  it('is as wide as its characters are shown', () => {
    const rows = ['abc', 'é', '記憶', '👩‍👩‍👧'].map((text) => {
      const { terminal, screen } = screenOn(21)
      screen.row({ mark: '✓', markStyle: 'green', text, note: 'end' })
      return stripVTControlCharacters(terminal.sent).trimEnd()
    })
    expect(rows.map((row) => stringWidth(row))).toEqual([20, 20, 20, 20])
  })

  it('that is too long is cut with an ellipsis, never within a character', () => {
    const shown = ['abcdef', 'abcd', '記憶喪失'].map((text) => {
      const { terminal, screen } = screenOn(5)
      screen.lines(lines(text))
      return terminal.shown[0]
    })
    expect(shown).toEqual(['abc…', 'abcd', '記…'])
  })

  it('of several looks is cut wherever its room ends', () => {
    const line = [{ text: 'ab', style: 'bold' as const }, { text: 'cd' }, { text: 'ef' }]
    const cut = [2, 3, 4, 5, 6].map((columns) => {
      const { terminal, screen } = screenOn(columns + 1)
      screen.lines([line])
      return terminal.shown[0]
    })
    expect(cut).toEqual(['a…', 'ab…', 'abc…', 'abcd…', 'abcdef'])
  })

  it('is wrapped between words, lists and quotes under their text', () => {
    expect(wrapped('one two three', 8)).toEqual(['one two', 'three'])
    expect(streamed(['> one two three\n- four five\n12. six ten\n\nend'], 9)).toEqual([
      '  > one',
      '    two',
      '    three',
      '  - four',
      '    five',
      '  12. six',
      '      ten',
      '',
      '  end',
    ])
  })

  it('keeps the spaces that a quoted line begins with', () => {
    expect(streamed(['>   if (a) {\n    x'], 40)).toEqual(['  >   if (a) {', '      x'])
  })

  it('has words that are longer than a line on lines of their own', () => {
    expect(wrapped('a 1234567 b', 8)).toEqual(['a', '1234567', 'b'])
    expect(wrapped('a 1234567890 b', 5)).toEqual(['a', '123456', '7890', 'b'])
  })

  it('comes out the same in whatever pieces it came', () => {
    const text = 'What was stopped\n> goes on, and on,\nand on.'
    expect(streamed(text.split(''), 10)).toEqual(streamed([text], 10))
    expect(streamed([text], 10)).toEqual([
      '  What was',
      '  stopped',
      '  > goes',
      '    on,',
      '    and',
      '    on,',
      '  and on.',
    ])
  })
})

describe('a screen', () => {
  it('shows nothing that a file could use to command the terminal', () => {
    const { terminal, screen } = screenOn(80)
    screen.text('a\u001b[2Jb\u0007')
    screen.stream('c\u001b]0;title\u0007d\r')
    screen.endStream()
    screen.row({ mark: '✓', markStyle: 'green', text: 'e\nf\u009b1m', note: 'g' })
    screen.lines(lines('h\u001b[5m'))
    screen.live(lines('i\u001b[5m'))
    // oxlint-disable-next-line no-control-regex
    expect(terminal.shown.join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    // oxlint-disable-next-line no-control-regex
    expect(terminal.sent.match(/\u001b(?!\[(?:\d*[ABGHJKm]|\?2026[hl]))/g)).toBeNull()
  })

  it('draws lines that change over themselves, below all that stays', () => {
    const { terminal, screen } = screenOn(80)
    screen.text('first')
    screen.live(lines('lead', 'one', 'two'))
    expect(terminal.shown).toEqual(['first', '', 'lead', 'one', 'two', ''])
    screen.live(lines('lead', 'three'))
    expect(terminal.shown).toEqual(['first', '', 'lead', 'three', ''])
    screen.text('second')
    expect(terminal.shown).toEqual(['first', 'second', '', 'lead', 'three', ''])
    screen.live([])
    expect(terminal.shown).toEqual(['first', 'second', ''])
  })

  it('draws a first line that changes apart from a text that grows, at the bottom of a terminal too', () => {
    const { terminal, screen } = screenOn(40, 5)
    for (const text of ['one', 'two', 'three']) screen.text(text)
    screen.stream('A text that ')
    screen.live(lines('lead'))
    expect(terminal.shown).toEqual(['one', 'two', 'three', '  A text that', '', 'lead', ''])
  })

  it('writes nothing when nothing has changed', () => {
    const { terminal, screen } = screenOn(80)
    screen.live(lines('lead', 'one'))
    const { sent } = terminal
    screen.live(lines('lead', 'one'))
    expect(terminal.sent).toBe(sent)
  })

  it('lets a text grow above them, word by word', () => {
    const { terminal, screen } = screenOn(16)
    screen.live(lines('lead'))
    for (const piece of ['What ', 'was ', 'stopped ', 'goes ', 'on.']) screen.stream(piece)
    expect(terminal.shown).toEqual(['  What was', '  stopped goes', '', 'lead', ''])
    expect(screen.endStream()).toBe(true)
    expect(terminal.shown).toEqual(['  What was', '  stopped goes', '  on.', '', 'lead', ''])
  })

  it('keeps what is to stand behind a text until it has ended', () => {
    const { terminal, screen } = screenOn(80)
    screen.stream('What was ')
    screen.afterStream(() => screen.text('Else.'))
    screen.stream('stopped.')
    screen.endStream()
    expect(terminal.shown).toEqual(['  What was stopped.', 'Else.', ''])
  })

  it.for([
    [80, 24],
    [120, 40],
    [31, 9],
  ])('that has become %i wide and %i high shows the same, as if it had always been so', ([columns = 0, rows = 0]) => {
    const write = (screen: Screen): void => {
      screen.text('All that was written before.', 'bold')
      screen.row({ mark: '✓', markStyle: 'green', text: 'read_file a/file/somewhere.md', note: '12 lines' })
      screen.stream('A text that has come to its end, and stays.')
      screen.gap()
      screen.stream('One that is still coming, with more words than there is room for on a line of')
      screen.live(lines('lead', 'a line of the tree that is as long as it can be', 'the last one'))
    }
    const changing = screenOn(60, 24)
    write(changing.screen)
    changing.terminal.columns = columns
    changing.terminal.rows = rows
    changing.screen.live(lines('lead', 'a line of the tree that is as long as it can be', 'the last one'))
    const fresh = screenOn(columns, 1_000)
    write(fresh.screen)
    expect(changing.terminal.shown.slice(-rows)).toEqual(fresh.terminal.shown.slice(-rows))
  })

  it('never draws more lines than a small terminal has', () => {
    const { terminal, screen } = screenOn(40, 6)
    const tree = Array.from({ length: 30 }, (_, index) => `line ${index}`)
    for (const text of ['one', 'two', 'three']) {
      screen.text(text)
      screen.live(lines(...tree, text))
    }
    expect(terminal.shown.slice(0, 4)).toEqual(['one', 'two', 'three', ''])
    expect(terminal.shown.length).toBeLessThanOrEqual(9)
  })

  it('has no changing lines on a terminal that knows no control codes', () => {
    const terminal = new Terminal(80)
    new Screen(terminal, { isDumb: true }).live(lines('thinking'))
    expect(terminal.sent).toBe('')
  })
})

describe('a tool call in a few words', () => {
  it.for<[string, JsonObject, string]>([
    ['read_file', { path: 'a.md', from: 3 }, 'read_file a.md'],
    ['list_files', { pattern: '{/docs,/README.md}' }, 'list_files . docs, README.md'],
    ['grep_files', { pattern: '\\bkill', path: 'src', glob: '*.ts' }, 'grep_files \\bkill in src in *.ts'],
    ['grep_files', { pattern: 7 }, 'grep_files {"pattern":7}'],
    ['add', { a: 1 }, 'add {"a":1}'],
    ['subagent', { prompt: 'Why?\n\nLook only in: docs, README.md', background: true }, 'subagent docs, README.md'],
    ['subagent', { prompt: 'Find all bees.\nAll of them.' }, 'subagent Find all bees.'],
    ['subagent_wait', { mode: 'all' }, 'subagent_wait all'],
    ['subagent_wait', { session_ids: ['session-1', 'session-2'] }, 'subagent_wait any docs, session-2'],
    ['subagent_result', { session_id: 'session-1' }, 'subagent_result docs full'],
    ['subagent_cancel', { session_id: 'session-1' }, 'subagent_cancel docs'],
    ['query_subagent', { id: 'session-1', prompt: 'And then?' }, 'query_subagent docs: And then?'],
  ])('%s %j', ([tool, input, text]) => {
    expect(callText(tool, input, (sessionId) => (sessionId === 'session-1' ? 'docs' : sessionId))).toBe(text)
  })

  it.for<[string, string, boolean, string]>([
    ['list_files', 'a\nb', false, '2 entries'],
    ['grep_files', 'a:1: x', false, '1 match'],
    ['grep_files', 'a:1: x\n[1 matches shown; there are more: narrow pattern]', false, '1 matches and more'],
    ['read_file', '1\tx\n[lines 1-1 of 9; read on with from=2]', false, 'lines 1-1 of 9'],
    ['read_file', 'Error: a.md does not exist.', true, 'a.md does not exist.'],
    ['grep_files', 'a:1: x\n[1 lines searched only in their first 10000 characters]', false, '1 match'],
    ['grep_files', '[no matches]\n[1 credential files skipped]', false, 'no matches'],
    ['list_files', 'a\n[1 of 7 shown]', false, '1 of 7 shown'],
    ['add', '5', false, '1 line'],
    ['subagent', '{"status":"success","lifecycle_status":"queued"}', false, 'queued'],
    ['subagent_wait', 'Waiting for background subagents. Will be notified.', false, 'asleep'],
    [
      'subagent_wait',
      'No background subagent sessions to wait for.',
      false,
      'No background subagent sessions to wait for.',
    ],
    ['subagent_result', '{"inline_content":"12345","error":null}', false, '5 characters'],
    ['subagent_result', '{"inline_content":null,"error":"boom"}', false, 'boom'],
  ])('%s came to %j', ([tool, text, isError, note]) => {
    expect(resultText(tool, text, isError)).toBe(note)
  })
})
