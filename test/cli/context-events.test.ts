import { describe, expect, it, onTestFinished } from 'vitest'
import { type AskEvent, type ContextEvent, contextEventTypes } from '../../src/cli/ask-event.ts'
import { contextText } from '../../src/cli/terminal/run-texts.ts'
import { textView } from '../../src/cli/terminal/terminal-view.ts'
import type { Entity } from '../../src/index.ts'
import { Terminal } from './terminal.ts'

const agent = 1 as Entity
const failure = { kind: 'overloaded', message: 'There is too much to do.' } as const
const written = { agent, by: 'auto', seq: 9, truncated: false, missingHeadings: [], usage: {} } as const

/** One of each, at places that follow each other, and what people read of it. */
const told: readonly (readonly [ContextEvent, string | undefined])[] = (
  [
    [{ type: 'summary-started', agent, effect: agent, kind: 'summary', by: 'auto' }, undefined],
    [
      { type: 'boundary-written', ...written, kind: 'summary', chars: 8_420 },
      'Compacted: a summary of 8,420 characters replaces earlier messages.',
    ],
    [
      { type: 'boundary-written', ...written, kind: 'checkpoint', chars: 1, truncated: true },
      'Checkpoint: a record of 1 character, cut off at its output limit, replaces earlier messages.',
    ],
    [
      { type: 'compaction-failed', agent, by: 'auto', failure, failures: 1 },
      'Compaction failed, the conversation is unchanged: There is too much to do.',
    ],
    [
      { type: 'compaction-ineffective', agent, fullness: 0.914, threshold: 0.85, failures: 1 },
      'Compaction did not help, the window is 91% full again: the next one is delayed.',
    ],
    [{ type: 'checkpoint-failed', agent, by: 'model', failure }, 'Checkpoint failed: There is too much to do.'],
    [
      { type: 'cost-ceiling-neared', agent, bound: 'turn', limitUsd: 0.1, reservedUsd: 0.03, spentUsd: 0.09 },
      'Near the cost ceiling of this turn: $0.0900 of $0.1000 spent, at most $0.0300 in flight.',
    ],
    [
      { type: 'cost-unknown', agent, model: 'a/b' },
      'a/b has no known price: its cost does not count towards the ceiling.',
    ],
    [
      { type: 'watchdog-alerted', agent, signal: 's', severity: 'critical', message: 'Again.', tool: 't', callId: 'c' },
      'Watchdog: Again.',
    ],
    [{ type: 'small-model-unavailable', agent, model: 'a/b', message: 'There is no a/b.' }, 'There is no a/b.'],
    [
      { type: 'turn-error', agent, kind: 'cost_ceiling', retryable: false, message: 'cost ceiling: reached.' },
      'cost ceiling: reached.',
    ],
  ] as const
).map(([event, text], index) => [{ ...event, tick: 5, index }, text])

const queued: AskEvent = { type: 'session-queued', tick: 1, index: 0, session: 's', name: 'docs' }

function viewOf({ isDumb }: { readonly isDumb: boolean }) {
  const terminal = new Terminal(120)
  const view = textView(terminal, { isDumb })
  onTestFinished(() => view.close())
  return { terminal, view }
}

describe('what keeps a run alive and within bounds', () => {
  it('is a line for people, of each kind that there is', () => {
    expect(told.map(([event]) => contextText(event))).toEqual(told.map(([, text]) => text))
    expect(new Set(told.map(([{ type }]) => type))).toEqual(new Set(contextEventTypes))
  })

  it.for([false, true])('is shown line by line, that of a session under its name (plain: %s)', (isDumb) => {
    const { terminal, view } = viewOf({ isDumb })
    view.tell(queued)
    for (const [event] of told) view.tell(event)
    const [inSession] = told[1] ?? []
    if (inSession !== undefined) view.tell({ ...inSession, path: ['s'] })
    const lines = told.flatMap(([, text]) => (text === undefined ? [] : [`  ${text}`]))
    expect(terminal.shown).toEqual([...lines, `  docs › ${lines[0]?.trim()}`, ''])
  })

  it('does not stand in the middle of a text', () => {
    const { terminal, view } = viewOf({ isDumb: false })
    const [event] = told[2] ?? []
    if (event === undefined) throw new Error('nothing was told')
    view.tell({ type: 'model-delta', kind: 'text', text: 'It is ' })
    view.tell(event)
    view.tell({ type: 'model-delta', kind: 'text', text: 'so.' })
    view.tell({ type: 'model-replied', tick: 6, index: 0, usage: {} })
    expect(terminal.shown.slice(0, 2)).toEqual(['  It is so.', expect.stringContaining('  Checkpoint: ')])
  })
})
