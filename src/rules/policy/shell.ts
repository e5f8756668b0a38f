import type { Base } from './paths.ts'
import { ShellReader } from './shell-reader.ts'
import type { ParseShell, ShellReading, SyntaxNode } from './shell-reading.ts'

/** Reads a body from its syntax tree. @param parse reads the texts in it that are programs themselves */
export function readShell(body: string, root: SyntaxNode, base: Base, parse: ParseShell): ShellReading {
  const first = new ShellReader(body, base, parse)
  first.visit(root)
  if (!first.mayRunEarlierText) return first.reading()
  // A function or a loop may see what is assigned below it.
  const second = new ShellReader(body, base, parse, first)
  second.visit(root)
  return second.reading()
}
