import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import type { Branch } from '../../src/cli/terminal/session-tree.ts'
import { type TreeLinesOptions, treeLines } from '../../src/cli/terminal/tree-lines.ts'

function branch(path: readonly string[], name: string, facts: Partial<Branch> = {}): Branch {
  return { path, name, state: 'running', steps: 0, tokens: 0, durationMs: 0, doing: '', ...facts }
}

function textOfTree(branches: readonly Branch[], options: Partial<TreeLinesOptions> = {}): string[] {
  const lines = treeLines(branches, { columns: 79, spinner: '*', ...options })
  return lines.map((line) => line.map(({ text }) => text).join(''))
}

const team = [
  branch([], 'lead', { state: 'asleep', steps: 3, tokens: 6_294, durationMs: 7_500 }),
  branch(['a'], 'docs', {
    state: 'succeeded',
    steps: 5,
    tokens: 22_916,
    durationMs: 4_700,
    doing: '22 files searched, 3 places read.',
  }),
  branch(['b'], 'examples', { steps: 1, durationMs: 1_260, doing: 'read_file examples/a-file-of-a-long-name.ts' }),
  branch(['c'], 'README.md', { state: 'queued' }),
]

describe('the tree of sessions', () => {
  it('has a line for each, with its state, steps, tokens, time and what it does', () => {
    expect(textOfTree(team, { columns: 119 })).toEqual([
      '  ◌ lead          asleep     3 steps   6,294 tokens  7.5 s',
      '  ├─ ✓ docs       succeeded  5 steps  22,916 tokens  4.7 s  22 files searched, 3 places read.',
      '  ├─ * examples   running     1 step                 1.3 s  read_file examples/a-file-of-a-long-name.ts',
      '  └─ ○ README.md  queued',
    ])
  })

  it('has short numbers where there is less room', () => {
    expect(textOfTree(team)).toEqual([
      '  ◌ lead          asleep     3 steps   6.3K tok  7.5 s',
      '  ├─ ✓ docs       succeeded  5 steps  22.9K tok  4.7 s  22 files searched, 3 places read.',
      '  ├─ * examples   running     1 step             1.3 s  read_file examples/a-file-of-a-long-name.ts',
      '  └─ ○ README.md  queued',
    ])
  })

  it('leaves out columns before it leaves out what goes on, the state last', () => {
    const second = (columns: number): string | undefined => textOfTree(team, { columns })[1]
    expect(second(60)).toBe('  ├─ ✓ docs       succeeded  5 steps  4.7 s  22 files searched, 3 places read.')
    expect(second(50)).toBe('  ├─ ✓ docs       succeeded  4.7 s  22 files searched, 3 places read.')
    expect(second(40)).toBe('  ├─ ✓ docs      succeeded  22 files searched, 3 places read.')
    expect(second(24)).toBe('  ├─ ✓ docs      22 files searched, 3 places read.')
  })

  it('shows sessions of sessions below them, with lines that lead on to the next of each', () => {
    const deep = [
      branch([], 'lead'),
      branch(['a'], 'a'),
      branch(['a', 'x'], 'x'),
      branch(['a', 'x', 'deep'], 'deep'),
      branch(['a', 'y'], 'y'),
      branch(['b'], 'b'),
      branch(['b', 'z'], 'z'),
    ]
    expect(textOfTree(deep).map((line) => line.replace(/ {2}running/, '').trimEnd())).toEqual([
      '  * lead',
      '  ├─ * a',
      '  │  ├─ * x',
      '  │  │  └─ * deep',
      '  │  └─ * y',
      '  └─ * b',
      '     └─ * z',
    ])
  })

  it('has a mark for every state', () => {
    const states = [
      'queued',
      'running',
      'answering',
      'asleep',
      'stopped',
      'succeeded',
      'failed',
      'timed_out',
      'cancelled',
    ]
    const branches = states.map((state) => branch([state], 'a', { state: state as Branch['state'] }))
    expect(
      textOfTree(branches)
        .map((line) => line.slice(5, 6))
        .join(''),
    ).toBe('○**◌‖✓✗✗–')
  })

  it('that is higher than its room loses what has ended first, the oldest before the others', () => {
    const many = [
      branch([], 'lead'),
      ...['1', '2', '3', '4'].map((id) => branch([id], id, { state: id === '3' ? 'running' : 'succeeded' })),
      branch(['5'], '5'),
    ]
    const names = (maxLines: number) =>
      textOfTree(many, { maxLines }).map((line) => line.replaceAll(/[├└─*✓ ]|running|succeeded/g, ''))
    expect(names(6)).toEqual(['lead', '1', '2', '3', '4', '5'])
    expect(names(4)).toEqual(['lead', '3', '5', '…and3more'])
    expect(names(3)).toEqual(['lead', '3', '…and4more'])
  })

  it('cuts names that would leave no room for the rest', () => {
    const name = 'a/folder/that/is/deeply/nested, and/another/one'
    const [line = ''] = textOfTree([branch(['a'], name, { doing: 'thinking' })], { columns: 79 })
    expect(line).toBe('  └─ * a/folder/that/…  running  thinking')
    expect(stringWidth(line)).toBeLessThan(79)
  })
})
