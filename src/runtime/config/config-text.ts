import {
  applyEdits,
  createScanner,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { valuePath } from '../../rules/text/schema-issues.ts'
import { cutText } from '../../base/cut-text.ts'

/** Counted from 1. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

export interface TextProblem extends TextPlace {
  /** The key, as spelt; empty: none. */
  readonly path: string
  readonly expected: string
  readonly got: string
  /** What may have been meant, as a sentence behind a blank. */
  readonly advice?: string
}

export interface ConfigText {
  readonly value: unknown
  /** By path as spelt; the root has an empty path. */
  readonly places: ReadonlyMap<string, TextPlace>
  readonly problems: readonly TextProblem[]
}

/** Parsers recurse once per level. */
const maxDepth = 64
const maxQuotedChars = 40

/** Reads JSON with comments and trailing commas. */
export function readConfigText(text: string): ConfigText {
  const tooDeep = offsetOfDepth(text, maxDepth + 1)
  if (tooDeep !== undefined) {
    return unreadable({
      ...placeAt(text, tooDeep),
      path: '',
      expected: `at most ${maxDepth} brackets within each other`,
      got: 'one more',
    })
  }
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  if (errors.length > 0 || root === undefined) return unreadable(syntaxProblem(text, errors))
  const places = new Map<string, TextPlace>([['', placeAt(text, root.offset)]])
  const problems: TextProblem[] = []
  noteKeys(root, [], (path, node) => {
    const name = valuePath(path)
    const place = placeAt(text, node.offset)
    if (places.has(name)) problems.push({ ...place, path: name, expected: 'a key once', got: 'the same key again' })
    else places.set(name, place)
  })
  return { value: getNodeValue(root) as unknown, places, problems }
}

/** The text with another value at a path, a number in it is an index; comments, order, indents and line ends stay. */
export function withConfigValue(text: string, path: readonly (string | number)[], value: unknown): string {
  const [, indent = '  '] = /\n([ \t]+)\S/.exec(text) ?? []
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const formattingOptions = { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol }
  return applyEdits(text, modify(text, [...path], value, { formattingOptions }))
}

function unreadable(problem: TextProblem): ConfigText {
  return { value: undefined, places: new Map(), problems: [problem] }
}

function offsetOfDepth(text: string, wanted: number): number | undefined {
  const scanner = createScanner(text, true)
  let depth = 0
  // A token of length 0 is the end.
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const begins = text[scanner.getTokenOffset()] ?? ''
    if (begins === '{' || begins === '[') depth++
    else if (begins === '}' || begins === ']') depth--
    if (depth === wanted) return scanner.getTokenOffset()
  }
  return undefined
}

function noteKeys(node: Node, path: readonly PropertyKey[], note: (path: readonly PropertyKey[], key: Node) => void) {
  for (const [index, child] of (node.children ?? []).entries()) {
    const [key, value] = child.type === 'property' ? (child.children ?? []) : []
    if (node.type === 'array') noteKeys(child, [...path, index], note)
    else if (key !== undefined) {
      const below = [...path, String(key.value)]
      note(below, key)
      if (value !== undefined) noteKeys(value, below, note)
    }
  }
}

const expectedInstead: Readonly<Record<string, string>> = {
  CloseBraceExpected: 'a comma or }',
  CloseBracketExpected: 'a comma or ]',
  ColonExpected: 'a colon',
  CommaExpected: 'a comma',
  EndOfFileExpected: 'nothing more',
  InvalidCharacter: 'no such character',
  InvalidEscapeCharacter: 'an escape that JSON has',
  InvalidUnicode: 'four digits of a character',
  PropertyNameExpected: 'a key in double quotes',
  UnexpectedEndOfComment: 'the end of the comment',
  UnexpectedEndOfString: 'a double quote at the end of the text',
}

/** Only the first error counts; the next one may say what was expected. */
function syntaxProblem(text: string, [error, next]: readonly ParseError[]): TextProblem {
  if (error === undefined || text.trim() === '') {
    return { line: 1, column: 1, path: '', expected: 'an object', got: 'an empty file' }
  }
  const codes = [error, next].map((each) => (each === undefined ? '' : printParseErrorCode(each.error)))
  const [code = ''] = codes[0] === 'InvalidSymbol' && codes[1] === 'PropertyNameExpected' ? codes.slice(1) : codes
  const expected = expectedInstead[code] ?? 'a value'
  const quoted = cutText(text.slice(error.offset, error.offset + error.length).trim(), maxQuotedChars, '...')
  const got = quoted === '' ? 'the end of the file' : JSON.stringify(quoted)
  return { ...placeAt(text, error.offset), path: '', expected, got }
}

function placeAt(text: string, offset: number): TextPlace {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/)
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}
