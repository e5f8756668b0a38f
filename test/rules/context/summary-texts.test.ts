import { describe, expect, it } from 'vitest'
import { boundaryMessage } from '../../../src/rules/projection/boundaries.ts'
import { checkpointPrompt, compactionPrompt, missingHeadings } from '../../../src/rules/context/summary-prompt.ts'

const view = { by: 'manual', isChained: false, messages: 2, model: 'a/b' } as const
const handover = [
  '# Current state',
  '# Files & changes',
  '# Technical context',
  '# Strategy & approach',
  '# Exact next steps',
]
const record = [
  '# Task',
  '# Files & changes',
  '# Technical context',
  '# Strategy & approach',
  '# Verification & next steps',
  '# Where we are',
]

describe('the prompt of a compaction', () => {
  it('asks for a handover under five headings, in their order', () => {
    const { ask, headings } = compactionPrompt(view)
    expect(headings).toEqual(handover)
    expect(ask.split('\n').filter((line) => line.startsWith('# '))).toEqual(handover)
  })

  it('ends in the focus, if there is one', () => {
    expect(compactionPrompt({ ...view, focus: 'auth' }).close).toBe('Compact focus: auth')
    expect(compactionPrompt(view).close).toBeUndefined()
  })
})

describe('the prompt of a checkpoint', () => {
  it('asks for a record under six headings, in their order', () => {
    const { ask, headings } = checkpointPrompt(view)
    expect(headings).toEqual(record)
    expect(ask.split('\n').filter((line) => line.startsWith('# '))).toEqual(record)
  })

  it('ends in the note, if there is one', () => {
    expect(checkpointPrompt({ ...view, note: 'surveyed' }).close).toBe('Completion note: surveyed')
    expect(checkpointPrompt(view).close).toBeUndefined()
  })
})

describe('headings', () => {
  it.each([
    ['a text that has them all', handover.join('\nx\n'), []],
    ['a text at other levels, in other letters', '## CURRENT STATE ##\n### files & changes:\nx', handover.slice(2)],
    ['a heading in the midst of a line', 'see # Current state', handover],
    ['an empty text', '', handover],
  ])('are looked for as lines: %s', (_, text, missing) => {
    expect(missingHeadings(text, handover)).toEqual(missing)
  })
})

describe('the message of a boundary', () => {
  const entry = { atMs: 0, by: 'auto', missingHeadings: [], seq: 1, text: 'T', truncated: false, usage: {} } as const

  it.each([
    [
      'summary',
      '[Conversation compacted. A handover of the earlier part follows; do not redo what it lists as done.]\n\nT\n\n[End of record. The conversation goes on below.]',
    ],
    [
      'checkpoint',
      '[The prior task is complete. Its record follows; do not run its tools again.]\n\nT\n\n[End of record. The conversation goes on below.]',
    ],
  ] as const)('of a %s says what it is, and where it ends', (kind, text) => {
    expect(boundaryMessage({ ...entry, kind })).toEqual({ role: 'user', content: [{ type: 'text', text }] })
  })
})
