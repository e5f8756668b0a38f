import stringWidth from 'string-width'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AskEvent, Before } from '../../src/cli/ask-event.ts'
import { TerminalView } from '../../src/cli/terminal/terminal-view.ts'
import { Terminal } from './terminal.ts'

function viewOn(columns: number, rows?: number): { terminal: Terminal; view: TerminalView } {
  const terminal = new Terminal(columns, rows)
  const view = new TerminalView(terminal)
  onTestFinished(() => view.close())
  return { terminal, view }
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
const path = ['session-1']
const queued: AskEvent = { type: 'session-queued', tick: 2, index: 0, session: 'session-1', name: 'docs' }
const began: AskEvent = {
  type: 'session-started',
  tick: 3,
  index: 0,
  session: 'session-1',
  name: 'docs',
  task: 'Look.',
}
const totals = { sessions: 1, modelCalls: 2, toolCalls: 1, usage, durationMs: 1_250 }
const ended: AskEvent = { type: 'run-ended', run: 'ask-1', stop: 'done', answer: 'It is so.', ...totals }

function answered(callId: string, file: string, within: Partial<AskEvent> = {}): AskEvent {
  return {
    ...{ type: 'tool-answered', tick: 4, index: 0, callId, tool: 'read_file', arguments: { path: file } },
    ...{ isError: false, text: '1\tone\n2\ttwo' },
    ...within,
  } as AskEvent
}

/** Without what takes time to take. */
function still(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/ {2}\d+\.\d s/, '').replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, '*'))
}

describe('a run on a terminal', () => {
  it('has what the lead does above, and the tree of sessions below it', () => {
    const { terminal, view } = viewOn(80)
    for (const event of [started, queued, began, answered('1', 'a.md')]) view.tell(event)
    view.tell({ type: 'model-called', path, tick: 1, index: 0, step: 1 })
    view.tell(answered('2', 'b.md', { path }))
    view.tell({ type: 'model-delta', kind: 'text', text: 'I sleep.' })
    view.tell({ type: 'model-replied', tick: 5, index: 0, usage })
    expect(still(terminal.shown).slice(-9)).toEqual([
      '',
      `  ✓ read_file a.md${' '.repeat(54)}2 lines`,
      '',
      '  I sleep.',
      '',
      '  * lead     running          1.5K tok  thinking',
      '  └─ * docs  running  1 step            thinking',
      '  Ctrl-C stops; --resume continues',
      '',
    ])
  })

  it('ends with its answer, the tree as it was left, and what it took', () => {
    const { terminal, view } = viewOn(80)
    const over: AskEvent = {
      type: 'session-ended',
      tick: 9,
      index: 0,
      session: 'session-1',
      status: 'succeeded',
      note: 'Found.',
    }
    for (const event of [started, queued, began, over, ended]) view.tell(event)
    expect(still(terminal.shown).slice(-9)).toEqual([
      '',
      '  It is so.',
      '',
      '  ✓ lead     succeeded',
      '  └─ ✓ docs  succeeded  Found.',
      '',
      'ask-1: 1 session · 2 model calls · 1 tool call · 1,500 tokens in · 30 out · 1.3',
      's',
      '',
    ])
  })

  it.for([24, 40, 80, 200])('of %i columns fills no line to its end', (columns) => {
    const { terminal, view } = viewOn(columns)
    for (const event of [started, queued, began]) view.tell(event)
    view.tell({ type: 'model-called', tick: 1, index: 0, step: 1 })
    for (const word of 'I read all that there is to be read about it.'.match(/\s*\S+/g) ?? []) {
      view.tell({ type: 'model-delta', kind: 'text', text: word })
    }
    view.tell({ type: 'model-replied', tick: 4, index: 0, usage })
    view.tell(answered('1', 'some/folder/with/a/file-of-a-long-name.md'))
    view.tell({ type: 'model-called', path, tick: 1, index: 0, step: 1 })
    view.tell({
      type: 'tool-called',
      path,
      tick: 2,
      index: 0,
      callId: '2',
      tool: 'read_file',
      arguments: { path: 'x/'.repeat(99) },
    })
    view.tell(ended)
    for (const row of terminal.shown) expect(stringWidth(row)).toBeLessThan(columns)
    expect(terminal.shown.join(' ')).toMatch(/I\s+read\s+all\s+that\s+there\s+is\s+to\s+be\s+read\s+about\s+it\./)
  })

  it('says in a line that stays what became of a session that failed, but not in the middle of a text', () => {
    const { terminal, view } = viewOn(80)
    for (const event of [started, queued, began]) view.tell(event)
    view.tell({ type: 'model-delta', kind: 'text', text: 'It is ' })
    view.tell({ type: 'session-ended', tick: 4, index: 0, session: 'session-1', status: 'failed', note: 'boom' })
    view.tell({ type: 'model-delta', kind: 'text', text: 'so.' })
    view.tell({ type: 'model-replied', tick: 5, index: 0, usage })
    view.close()
    expect(terminal.shown.slice(-4)).toEqual(['  It is so.', `  ✗ docs${' '.repeat(67)}boom`, '', ''])
  })

  it('shows what was done before it was resumed once, though it is told twice', () => {
    const { terminal, view } = viewOn(80)
    const tool = answered('1', 'a.md')
    const agent = { tick: 4, steps: 2, modelCalls: 1, toolCalls: 1, usage, durationMs: 900, open: [], isAsleep: true }
    const before: Before = {
      ...{ ...totals, toolCalls: 2, isFinished: false, lead: agent },
      tools: tool.type === 'tool-answered' ? [tool] : [],
      tree: [{ ...agent, isAsleep: false, path, name: 'docs', status: 'succeeded', isAsked: false, note: 'Found.' }],
    }
    view.tell({ ...started, before })
    view.tell(tool)
    expect(still(terminal.shown).slice(-8)).toEqual([
      '',
      'Already done: 2 model calls, 2 tool calls.',
      `  ✓ read_file a.md${' '.repeat(54)}2 lines`,
      '',
      '  ◌ lead     asleep     2 steps  1.5K tok',
      '  └─ ✓ docs  succeeded  2 steps  1.5K tok  Found.',
      '  Ctrl-C stops; --resume continues',
      '',
    ])
  })

  it('is left in order when it is stopped, with how to go on', () => {
    const { terminal, view } = viewOn(80)
    for (const event of [started, queued, began]) view.tell(event)
    view.tell({ type: 'run-stopped', run: 'ask-1', resumeBy: 'npm start -- --resume' })
    expect(still(terminal.shown).slice(-6)).toEqual([
      '',
      '  ‖ lead     stopped',
      '  └─ ‖ docs  stopped',
      '',
      'Stopped. To continue ask-1:  npm start -- --resume',
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
    expect(terminal.shown.slice(-6)).toEqual([
      '  It is',
      '  (This answer broke off and is discarded.)',
      '  There is too much to do. Retrying in 4.2 s.',
      '',
      '  It was.',
      '',
    ])
  })
})
