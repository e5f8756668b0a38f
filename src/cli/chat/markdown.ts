import { Lexer, type Token, type Tokens } from 'marked'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import { plainText } from '../../tools/files/clean-text.ts'
import type { Look, Style } from './look.ts'

/** A line of the terminal. One that `isWhole` is not wrapped, so that it can be copied: the terminal breaks it. */
export interface Line {
  readonly text: string
  readonly isWhole?: true
}

/** Longest lines of prose: longer ones are hard to read. */
const maxProseColumns = 100
/** A reply without a paragraph's end is rendered in parts of this size, so that drawing it stays quick. */
const maxPendingChars = 64_000

/** Markdown that arrives in pieces: whole blocks are given out once, what may still change is rendered anew each time. */
export class MarkdownStream {
  readonly #look: Look
  #pending = ''
  #isFirst = true

  constructor(look: Look) {
    this.#look = look
  }

  get isEmpty(): boolean {
    return this.#pending.trim() === ''
  }

  push(text: string): void {
    this.#pending += text
  }

  /** Takes the lines of all blocks that later text does not change. */
  settled(columns: number): readonly Line[] {
    if (!/\n\s*\S/.test(this.#pending)) return []
    const tokens = lexed(this.#pending)
    const isTooLong = this.#pending.length > maxPendingChars
    const last = isTooLong ? tokens.length : tokens.findLastIndex(({ type }) => type !== 'space')
    if (last <= 0) return []
    const rest = tokens.slice(last).map(({ raw }) => raw)
    this.#pending = isTooLong ? openFence(tokens.at(-1)) : rest.join('')
    return this.#apart(blockLines(tokens.slice(0, last), columns, this.#look))
  }

  /** The lines of the rest, as they look so far. */
  open(columns: number): readonly Line[] {
    return this.isEmpty ? [] : blockLines(lexed(this.#pending), columns, this.#look)
  }

  /** Takes the lines of the rest: no more text comes. */
  end(columns: number): readonly Line[] {
    const lines = this.open(columns)
    this.#pending = ''
    return this.#apart(lines)
  }

  /** Drops the rest: the reply was cut off. */
  discard(): void {
    this.#pending = ''
  }

  #apart(lines: readonly Line[]): readonly Line[] {
    if (lines.length === 0) return []
    const before = this.#isFirst ? [] : [{ text: '' }]
    this.#isFirst = false
    return [...before, ...lines]
  }
}

/** The line that opens a block of code which is not closed. */
function openFence(token: Token | undefined): string {
  const [line = '', fence = ''] = (token?.type === 'code' && /^ *(`{3,}|~{3,}).*\n/.exec(token.raw)) || []
  return fence !== '' && !token?.raw.trimEnd().endsWith(`\n${fence}`) ? line : ''
}

function lexed(source: string): Token[] {
  return new Lexer({ gfm: true }).lex(plainText(source))
}

/** Blocks with an empty line between them. */
function blockLines(tokens: readonly Token[], columns: number, look: Look): Line[] {
  const blocks = tokens
    .map((token) => linesOf(token as Tokens.Generic, columns, look))
    .filter(({ length }) => length > 0)
  return blocks.flatMap((lines, index) => (index === 0 ? lines : [{ text: '' }, ...lines]))
}

function linesOf(token: Tokens.Generic, columns: number, look: Look): Line[] {
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return []
    case 'heading':
      return prose(
        look.paint(token['depth'] === 1 ? ['bold', 'underline'] : 'bold', inline(token.tokens, look)),
        columns,
      )
    case 'code':
      if (token['text'] === '') return []
      return (token as Tokens.Code).text.split('\n').map((line) => ({
        text: look.paint('cyan', `  ${line}`),
        isWhole: true,
      }))
    case 'blockquote':
      return within(look.paint('dim', '│ '), blockLines(token.tokens ?? [], columns - 2, look))
    case 'list':
      return listLines(token as Tokens.List, columns, look)
    case 'table':
      return tableLines(token as Tokens.Table, columns, look)
    case 'hr':
      return [{ text: look.paint('dim', '─'.repeat(Math.max(1, Math.min(columns, 40)))) }]
    default:
      return prose(token.tokens === undefined ? decoded(token.raw.trimEnd()) : inline(token.tokens, look), columns)
  }
}

function listLines({ items, ordered, start, loose }: Tokens.List, columns: number, look: Look): Line[] {
  const first = typeof start === 'number' ? start : 1
  return items.flatMap((item, index) => {
    const mark = ordered ? `${first + index}. ` : '• '
    const width = mark.length
    const blocks = item.tokens.map((token) => linesOf(token as Tokens.Generic, columns - width, look))
    const box = item.task ? `[${item.checked === true ? 'x' : ' '}] ` : ''
    const lines = blocks.flatMap((block) => block)
    const [head = { text: '' }, ...rest] = lines
    const gap = loose && index > 0 ? [{ text: '' }] : []
    return [...gap, { ...head, text: mark + box + head.text }, ...within(' '.repeat(width), rest)]
  })
}

/** Columns side by side, or, where the terminal is too narrow, each cell in a line of its own behind its heading. */
function tableLines({ header, rows, align }: Tokens.Table, columns: number, look: Look): Line[] {
  const heads = header.map(({ tokens }) => inline(tokens, look))
  const cells = rows.map((row) => row.map(({ tokens }) => inline(tokens, look)))
  const widths = heads.map((head, at) =>
    Math.max(...[head, ...cells.map((row) => row[at] ?? '')].map((text) => stringWidth(text))),
  )
  const total = widths.reduce((sum, width) => sum + width + 3, -3)
  if (total > columns) {
    const asList = cells.map((row) =>
      row.flatMap((cell, at) => prose(`${look.paint('bold', heads[at] ?? '')}: ${cell}`, columns)),
    )
    return asList.flatMap((lines, index) => (index === 0 ? lines : [{ text: '' }, ...lines]))
  }
  const bar = look.paint('dim', ' │ ')
  const rowText = (row: readonly string[]): Line => {
    const padded = widths.map((width, at) => {
      const text = row[at] ?? ''
      const room = ' '.repeat(width - stringWidth(text))
      return align[at] === 'right' ? room + text : text + room
    })
    return { text: padded.join(bar).trimEnd() }
  }
  const rule = look.paint('dim', widths.map((width) => '─'.repeat(width)).join('─┼─'))
  return [rowText(heads.map((head) => look.paint('bold', head))), { text: rule }, ...cells.map(rowText)]
}

function within(before: string, lines: readonly Line[]): Line[] {
  return lines.map((line) => ({ ...line, text: `${before}${line.text}`.trimEnd() }))
}

function prose(text: string, columns: number): Line[] {
  const width = Math.max(1, Math.min(columns, maxProseColumns))
  return wrapAnsi(text, width, { hard: true })
    .split('\n')
    .map((line) => ({ text: line.trimEnd() }))
}

const styles: Readonly<Record<string, Style>> = { strong: 'bold', em: 'italic', del: 'strikethrough' }

function inline(tokens: readonly Token[] | undefined, look: Look): string {
  return (tokens ?? []).map((token) => inlineText(token as Tokens.Generic, look)).join('')
}

function inlineText(token: Tokens.Generic, look: Look): string {
  const style = styles[token.type]
  if (style !== undefined) return look.paint(style, inline(token.tokens, look))
  switch (token.type) {
    case 'codespan':
      return look.paint('cyan', decoded(token['text']))
    case 'br':
      return '\n'
    case 'link': {
      const text = inline(token.tokens, look)
      const isSame = decoded(token['text']) === token['href'] || token['href'] === `mailto:${token['text']}`
      return isSame ? look.paint('underline', text) : `${text} (${look.paint('underline', token['href'])})`
    }
    case 'image':
      return `[${token['text']}] (${token['href']})`
    case 'text':
      return token.tokens === undefined ? decoded(token['text']) : inline(token.tokens, look)
    default:
      return decoded(token.raw)
  }
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' }

function decoded(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => entities[name] ?? whole)
}
