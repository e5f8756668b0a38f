import type { Expanded } from './parameter-expansion.ts'
import { printedBy } from './shell-output.ts'
import type { SyntaxNode } from './shell-reading.ts'
import type { ShellScope } from './shell-scope.ts'
import { asWritten, namesOf, type WordReading } from './shell-word.ts'
import { writtenAmong } from './written-words.ts'

/** Takes down what a statement prints into files. */
export function printedInto(node: SyntaxNode, scope: ShellScope): void {
  const redirects = node.children.flatMap((child) => [
    child,
    ...(child.type === 'heredoc_redirect' ? child.children : []),
  ])
  const files = redirects
    .filter(({ type }) => type === 'file_redirect')
    .filter((one) => /^[\d&]*>/.test(scope.source(one)))
  const words = files.flatMap((file) => scope.wordsIn(file)).map((word) => scope.read(word))
  if (words.length === 0) return
  // The grammar has a redirection of the last of a list stand behind the list.
  let [printing] = node.children
  while (printing?.type === 'list') printing = printing.children.at(-1)
  const isAlone = printing === node.children[0]
  const text = printedBy(isAlone ? node : printing, scope) ?? elsewhere
  for (const word of words) scope.write(word, text)
}

/** Takes down what a command writes into a file that it is given: what it reads, or what comes from elsewhere. */
export function writtenByCommand(words: readonly WordReading[], scope: ShellScope, input: Expanded | undefined): void {
  const at = words.findIndex((word) => namesOf(word).some((name) => writers.has(name)))
  if (at === -1) return
  const [name = ''] = namesOf(words[at] as WordReading)
  const rest = words.slice(at + 1)
  const operands = rest.filter(({ values }) => !values.some((value) => value.startsWith('-')))
  if (name === 'tee') for (const word of operands) scope.write(word, input ?? elsewhere)
  else if (name === 'cp' || name === 'mv') {
    const [source, target] = operands
    const text = source && scope.written(source)
    if (text !== undefined && target !== undefined) scope.write(target, text)
  } else {
    const places = writtenAmong(words.map(({ values }) => values.map(asWritten)))
    for (const place of places) {
      const word = words[place]
      if (word !== undefined)
        scope.write({ ...word, values: word.values.map((value) => value.replace(/^[\w-]+=/, '')) }, elsewhere)
    }
  }
}

const elsewhere: Expanded = { values: [], hasUnknown: true }
const writers = new Set(['tee', 'cp', 'mv', 'curl', 'wget', 'dd'])
