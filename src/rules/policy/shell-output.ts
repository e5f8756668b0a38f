import { asWritten, namesOf, unescapedText, type WordReading } from './shell-word.ts'
import { either, type Expanded } from './parameter-expansion.ts'
import { joined } from './shell-programs.ts'
import type { SyntaxNode } from './shell-reading.ts'
import type { ShellScope } from './shell-scope.ts'

/** Longest text of `printf` that is worked out. */
const maxPrintedChars = 4_000

/** What redirections of a node give it to read; `undefined`: it has none. */
export function inputOf(node: SyntaxNode, scope: ShellScope): Expanded | undefined {
  const inputs = node.children.flatMap((redirect) => inputBy(redirect, scope) ?? [])
  return inputs.length === 0 ? undefined : inputs.reduce(either)
}

function inputBy(redirect: SyntaxNode, scope: ShellScope): Expanded | undefined {
  const [word] = scope.wordsIn(redirect)
  if (redirect.type === 'heredoc_redirect') {
    const body = redirect.children.find(({ type }) => type === 'heredoc_body')
    return { values: body === undefined ? [] : [scope.source(body)], hasUnknown: false }
  }
  if (redirect.type === 'herestring_redirect') return word && textOf([scope.read(word)])
  if (redirect.type !== 'file_redirect' || !/^\d*</.test(scope.source(redirect)) || word === undefined) return undefined
  const file = scope.read(word)
  if (file.values.every((value) => value === '/dev/null')) return { values: [''], hasUnknown: false }
  return scope.written(file) ?? { values: [], hasUnknown: true }
}

/** What a statement prints, where its words say it. */
export function printedBy(node: SyntaxNode | undefined, scope: ShellScope): Expanded | undefined {
  if (node === undefined) return undefined
  const [first] = node.children
  switch (node.type) {
    case 'program':
    case 'subshell':
    case 'process_substitution':
    case 'compound_statement': {
      const inner = node.children.filter(({ type }) => !/^[<>]?[(){};]$/.test(type))
      return inner.length === 1 ? printedBy(inner[0], scope) : printedByLast(inner, scope)
    }
    case 'list':
      return printedByLast(node.children, scope)
    case 'redirected_statement': {
      const input = inputOf(node, scope)
      // `$(< file)`
      const isInput = first?.type === 'file_redirect' || (first !== undefined && scope.commandName(first) === 'cat')
      return isInput && input !== undefined ? input : printedBy(first, scope)
    }
    case 'command': {
      const words = scope.commandWords(node)
      const input = inputOf(node, scope)
      if (input !== undefined) return words.length === 1 && scope.commandName(node) === 'cat' ? input : undefined
      return printedText(words, scope)
    }
    default:
      return undefined
  }
}

/** Of statements that only go to a folder, and one that prints. */
function printedByLast(statements: readonly SyntaxNode[], scope: ShellScope): Expanded | undefined {
  const { allFolders, folders } = scope
  const before = statements.slice(0, -1).filter(({ type }) => type === 'command')
  if (before.some((one) => scope.commandName(one) !== 'cd')) return undefined
  for (const one of before) scope.changeFolder('cd', scope.commandWords(one).slice(1))
  const printed = printedBy(statements.at(-1), scope)
  scope.folders = folders
  scope.allFolders = allFolders
  return printed
}

/** What `echo`, `printf`, `pwd` and the like print. */
export function printedText(words: readonly WordReading[], { base, folders }: ShellScope): Expanded | undefined {
  const [named, ...rest] = words
  const [name] = named === undefined ? [] : namesOf(named)
  switch (name) {
    case 'echo':
      return echoed(rest)
    case 'printf':
      return formatted(rest)
    case 'pwd':
      return { values: folders, hasUnknown: false }
    case 'whoami':
      return { values: [base.home.slice(base.home.lastIndexOf('/') + 1)], hasUnknown: false }
    case 'realpath':
    case 'readlink': {
      const operands = rest.filter(({ values }) => !values.some((value) => value.startsWith('-')))
      return operands.length === 0 ? undefined : textOf(operands)
    }
    default:
      return undefined
  }
}

function echoed(words: readonly WordReading[]): Expanded {
  const first = words.findIndex(({ values }) => !values.some((value) => /^-[neE]+$/.test(value)))
  const options = words.slice(0, first === -1 ? words.length : first)
  const { values, hasUnknown } = textOf(words.slice(options.length))
  const isEscaped = options.some((word) => word.values.some((value) => value.includes('e')))
  return { values: isEscaped ? values.map(unescapedText) : values, hasUnknown }
}

function textOf(words: readonly WordReading[]): Expanded {
  const { hasUnknown, texts } = joined(words)
  return { values: texts, hasUnknown }
}

function formatted(words: readonly WordReading[]): Expanded | undefined {
  const [format, ...given] = words.filter(({ values }, at) => at > 0 || !values.includes('--'))
  if (format === undefined || format.values.some((value) => value.startsWith('-v'))) return undefined
  if (words.some(({ values, hasUnknown }) => values.length > 1 || hasUnknown)) return undefined
  const operands = given.map(({ values }) => asWritten(values[0] ?? ''))
  const template = asWritten(format.values[0] ?? '')
  const filled = (): string =>
    unescapedText(template).replace(/%(?:(%)|[-\d.]*([a-zA-Z]))/g, (_, percent?: string, kind?: string) => {
      if (percent !== undefined) return '%'
      const value = operands.shift() ?? ''
      return kind === 'b' ? unescapedText(value) : value
    })
  let text = ''
  let left = Infinity
  // The format is used again as long as it takes operands.
  while (left === Infinity || (operands.length > 0 && operands.length < left)) {
    left = operands.length
    text += filled()
    if (text.length > maxPrintedChars) return undefined
  }
  return { values: [text], hasUnknown: false }
}

/** Does a text say a path, or is it encoded? */
export function isTelling(text: Expanded | undefined): boolean {
  return text !== undefined && !text.hasUnknown && text.values.some((value) => /\/|^[\w+=]{8,}\s*$/.test(value))
}
