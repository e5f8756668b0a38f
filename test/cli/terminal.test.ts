import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { AskEvent } from '../../src/cli/ask-event.ts'
import { Screen } from '../../src/cli/terminal/screen.ts'
import { TerminalView } from '../../src/cli/terminal/terminal-view.ts'
import { cutToWidth, textWidth } from '../../src/cli/terminal/text-width.ts'
import { callText, resultText } from '../../src/cli/terminal/tool-text.ts'
import { WordWrap, wrapped } from '../../src/cli/terminal/word-wrap.ts'
import type { JsonObject } from '../../src/index.ts'

/** What a terminal of so many columns is sent. */
class Terminal extends Writable {
  readonly isTTY = true
  readonly columns: number
  sent = ''

  constructor(columns: number) {
    super({ decodeStrings: false })
    this.columns = columns
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.sent += chunk
    done()
  }

  /** What stands on it: a changed line shows what was written last. */
  get rows(): string[] {
    // oxlint-disable-next-line no-control-regex
    const plain = this.sent.replaceAll(/\u001b\[\d*m/g, '')
    return plain.split('\n').map((row) => (row.split('\r').at(-1) ?? '').replace('\u001b[K', ''))
  }
}

function viewOn(columns: number): { terminal: Terminal; view: TerminalView } {
  const terminal = new Terminal(columns)
  return { terminal, view: new TerminalView(terminal, { isDumb: false }) }
}

const started: AskEvent = {
  type: 'run-started',
  run: 'ask-1',
  data: '/data',
  folder: '/files/of/a/person',
  question: 'What is it that happens?',
  places: [],
  model: 'anthropic/large',
}
const usage = { input: 1_000, cacheRead: 500, output: 30 }

function answered(callId: string, path: string, lines: number): AskEvent {
  const text = Array.from({ length: lines }, (_, index) => `${index + 1}\tline`).join('\n')
  return {
    type: 'tool-answered',
    tick: 4,
    index: 0,
    callId,
    tool: 'read_file',
    arguments: { path },
    isError: false,
    text,
  }
}

describe('a text on a terminal', () => {
  it('is as wide as its characters are shown', () => {
    expect(['abc', 'é', '記憶', '👩‍👩‍👧', ''].map(textWidth)).toEqual([3, 1, 4, 2, 0])
  })

  it('that is too long is cut with an ellipsis, never within a character', () => {
    expect(['abcdef', 'abc', '記憶喪失'].map((text) => cutToWidth(text, 4))).toEqual(['abc…', 'abc', '記…'])
    expect(cutToWidth('abc', 0)).toBe('')
  })

  it('is wrapped between words, lists and quotes under their text', () => {
    expect(wrapped('one two three', 8)).toBe('one two\nthree\n')
    expect(wrapped('> one two three\n- four five\n12. six seven\n\nend', 9, '  ')).toBe(
      '  > one\n    two\n    three\n  - four\n    five\n  12. six\n      seven\n\n  end\n',
    )
  })

  it('has words that are longer than a line on lines of their own', () => {
    expect(wrapped('a 1234567890 b', 5)).toBe('a\n1234567890\nb\n')
  })

  it('comes out the same in whatever pieces it came', () => {
    const text = 'What was stopped\n> goes on, and on,\nand on.'
    const wrap = new WordWrap({ columns: () => 10, indent: ' ' })
    const pieces =
      text
        .split('')
        .map((character) => wrap.push(character))
        .join('') + wrap.end()
    expect(pieces).toBe(wrapped(text, 10, ' '))
  })
})

describe('a screen', () => {
  it('shows nothing that a file could use to command the terminal', () => {
    const terminal = new Terminal(80)
    const screen = new Screen(terminal, { isDumb: false })
    screen.text('a\u001b[2Jb\u0007')
    screen.stream('c\u001b]0;title\u0007d\r')
    screen.endStream()
    screen.row({ mark: '✓', markStyle: 'green', text: 'e\nf\u009b1m', note: 'g' })
    screen.live(['h\u001b[5m'])
    // oxlint-disable-next-line no-control-regex
    expect(terminal.rows.join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  })

  it('takes the changing line away before anything else is written', () => {
    const terminal = new Terminal(80)
    const screen = new Screen(terminal, { isDumb: false })
    screen.live(['thinking', '1 s'])
    screen.text('done')
    screen.live(['thinking'])
    screen.live([])
    expect(terminal.rows).toEqual(['done', ''])
  })

  it('shows as many parts of the changing line as there is room for', () => {
    const terminal = new Terminal(20)
    new Screen(terminal, { isDumb: false }).live(['step 1', 'thinking', '1.0 s'])
    expect(terminal.rows).toEqual(['  step 1 · thinking'])
  })

  it('has no changing line on a terminal that knows no control codes', () => {
    const terminal = new Terminal(80)
    new Screen(terminal, { isDumb: true }).live(['thinking'])
    expect(terminal.sent).toBe('')
  })
})

describe('a run on a terminal', () => {
  it.for([24, 40, 80, 200])('of %i columns fills no line to its end', (columns) => {
    const { terminal, view } = viewOn(columns)
    view.tell(started)
    view.tell({ type: 'model-called', tick: 1, index: 0, step: 1 })
    for (const word of 'I read all that there is to be read about it.'.match(/\s*\S+/g) ?? []) {
      view.tell({ type: 'model-delta', kind: 'text', text: word })
    }
    view.tell({ type: 'model-replied', tick: 2, index: 0, usage })
    view.tell(answered('1', 'some/folder/with/a/file-of-a-long-name.md', 2))
    view.tell({
      type: 'run-ended',
      run: 'ask-1',
      stop: 'done',
      answer: 'x',
      modelCalls: 1,
      toolCalls: 1,
      usage,
      durationMs: 1_250,
    })
    view.close()
    for (const row of terminal.rows) expect(textWidth(row)).toBeLessThan(Math.min(columns, 100))
    expect(terminal.rows.join(' ')).toMatch(/I\s+read\s+all\s+that\s+there\s+is\s+to\s+be\s+read\s+about\s+it\./)
  })

  it('ends with what it took, the tokens of the cache among those that went in', () => {
    const { terminal, view } = viewOn(80)
    view.tell(started)
    view.tell({
      type: 'run-ended',
      run: 'ask-1',
      stop: 'done',
      answer: 'It is so.',
      modelCalls: 2,
      toolCalls: 1,
      usage,
      durationMs: 1_250,
    })
    expect(terminal.rows.slice(-4)).toEqual([
      '  It is so.',
      '',
      'ask-1: 2 model calls · 1 tool call · 1,500 tokens in · 30 out · 1.3 s',
      '',
    ])
  })

  it('shows what was done before it was resumed once, though it is told twice', () => {
    const { terminal, view } = viewOn(80)
    const tool = answered('1', 'a.md', 3)
    const tools = tool.type === 'tool-answered' ? [tool] : []
    const before = { tick: 4, step: 2, modelCalls: 1, toolCalls: 1, usage, durationMs: 900, tools, isFinished: false }
    view.tell({ ...started, before })
    view.tell(tool)
    view.tell({ ...answered('2', 'b.md', 1), tick: 6 } as AskEvent)
    view.close()
    expect(terminal.rows.slice(-6)).toEqual([
      'Done before, and not done again: 1 model call, 1 tool call.',
      `  ✓ read_file a.md${' '.repeat(54)}3 lines`,
      '',
      `  ✓ read_file b.md${' '.repeat(55)}1 line`,
      '',
      '',
    ])
  })

  it('says which text counts no more, and shows what came in its place', () => {
    const { terminal, view } = viewOn(80)
    view.tell(started)
    const failure = { kind: 'overloaded', message: 'There is too much to do.' } as const
    view.tell({ type: 'model-delta', kind: 'text', text: 'It is' })
    view.tell({ type: 'model-discarded' })
    view.tell({ type: 'retry-scheduled', tick: 3, index: 0, attempt: 2, waitMs: 4_200, failure })
    view.tell({ type: 'model-delta', kind: 'text', text: 'It was.' })
    view.close()
    expect(terminal.rows.slice(-5)).toEqual([
      '  It is',
      '  (This answer broke off and counts no more.)',
      '  There is too much to do. Another try in 4.2 s.',
      '  It was.',
      '',
    ])
  })
})

describe('a tool call in a few words', () => {
  it.for<[string, JsonObject, string]>([
    ['read_file', { path: 'a.md', from: 3 }, 'read_file a.md'],
    ['list_files', { pattern: '{/docs,/README.md}' }, 'list_files . docs, README.md'],
    ['grep_files', { pattern: '\\bkill', path: 'src', glob: '*.ts' }, 'grep_files \\bkill in src in *.ts'],
    ['grep_files', { pattern: 7 }, 'grep_files {"pattern":7}'],
    ['add', { a: 1 }, 'add {"a":1}'],
  ])('%s %j', ([tool, input, text]) => {
    expect(callText(tool, input)).toBe(text)
  })

  it.for<[string, string, boolean, string]>([
    ['list_files', 'a\nb', false, '2 entries'],
    ['grep_files', 'a:1: x', false, '1 match'],
    ['grep_files', 'a:1: x\n[1 matches shown; there are more: narrow pattern]', false, '1 matches shown'],
    ['read_file', '1\tx\n[lines 1-1 of 9; read on with from=2]', false, 'lines 1-1 of 9'],
    ['read_file', 'Error: a.md does not exist.', true, 'a.md does not exist.'],
    ['grep_files', 'a:1: x\n[1 lines searched only in their first 10000 characters]', false, '1 match'],
    ['grep_files', '[no matches]\n[1 credential files skipped]', false, 'no matches'],
    ['list_files', 'a\n[1 of 7 shown]', false, '1 of 7 shown'],
    ['add', '5', false, '1 line'],
  ])('%s came to %j', ([tool, text, isError, note]) => {
    expect(resultText(tool, text, isError)).toBe(note)
  })
})
