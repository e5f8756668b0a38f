import { describe, expect, it } from 'vitest'
import type { Look } from '../../../src/cli/chat/look.ts'
import { MarkdownStream } from '../../../src/cli/chat/markdown.ts'

const tagged: Look = { paint: (style, text) => `<${String(style)}>${text}</>`, isAscii: false }
const plain: Look = { paint: (_style, text) => text, isAscii: false }

/** What is given out for a text that arrives character by character. */
function rendered(source: string, { look = plain, columns = 40 }: { look?: Look; columns?: number } = {}): string {
  const stream = new MarkdownStream(look)
  const lines = Array.from(source, (sign) => {
    stream.push(sign)
    return stream.settled(columns)
  })
  return [...lines.flat(), ...stream.end(columns)].map(({ text }) => text).join('\n')
}

describe('Markdown on a terminal', () => {
  it('has headings, strong and emphasized text, code and links', () => {
    const source = '# A\n## B\n**b** *i* `c` [t](u) <https://x.y>'
    expect(rendered(source, { look: tagged, columns: 200 })).toBe(
      '<bold,underline>A</>\n\n<bold>B</>\n\n' +
        '<bold>b</> <italic>i</> <cyan>c</> t (<underline>u</>) <underline>https://x.y</>',
    )
  })

  it('has lists within lists, with numbers and boxes', () => {
    expect(rendered('- one\n  - two\n- [x] done\n\n3. three\n4. four')).toBe(
      '• one\n  • two\n• [x] done\n\n3. three\n4. four',
    )
  })

  it('wraps prose under its mark, and leaves code as it is', () => {
    const source =
      '- a list item that is longer than the line\n\n```\ncode that is longer than the line is wide, yes\n```'
    expect(rendered(source, { columns: 24 })).toBe(
      '• a list item that is\n  longer than the line\n\n  code that is longer than the line is wide, yes',
    )
  })

  it('has tables, and in a narrow terminal a line for each cell', () => {
    const table = '| name | size |\n|---|--:|\n| a | 10 |\n| long | 5 |'
    expect(rendered(table)).toBe('name │ size\n─────┼─────\na    │   10\nlong │    5')
    expect(rendered(table, { columns: 8 })).toBe('name: a\nsize: 10\n\nname:\nlong\nsize: 5')
  })

  it('shows quotes, rules, and markup that it does not know', () => {
    expect(rendered('> q\n\n---\n\n<b>x</b> &amp; y', { columns: 10 })).toBe('│ q\n\n──────────\n\n<b>x</b> &\ny')
  })
})

describe('a text that arrives', () => {
  it('is given out block by block, once', () => {
    const stream = new MarkdownStream(plain)
    stream.push('First.\n\nSec')
    expect(stream.settled(40)).toEqual([{ text: 'First.' }])
    expect(stream.open(40)).toEqual([{ text: 'Sec' }])
    stream.push('ond.')
    expect(stream.settled(40)).toEqual([])
    expect(stream.end(40)).toEqual([{ text: '' }, { text: 'Second.' }])
    expect(stream.isEmpty).toBe(true)
  })

  it('keeps a list open that may go on behind an empty line', () => {
    const stream = new MarkdownStream(plain)
    stream.push('1. one\n\n')
    expect(stream.settled(40)).toEqual([])
    stream.push('2. two')
    expect(stream.end(40).map(({ text }) => text)).toEqual(['1. one', '', '2. two'])
  })

  it('is given out in parts if it has no paragraph for long', () => {
    const stream = new MarkdownStream(plain)
    stream.push(`\`\`\`\n${'x\n'.repeat(40_000)}`)
    expect(stream.settled(40)).toHaveLength(40_000)
    stream.push('- still code\n```\n')
    expect(stream.end(40).at(-1)?.text).toBe('  - still code')
  })
})
