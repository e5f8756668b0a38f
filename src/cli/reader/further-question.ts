import type { ScriptedReply } from '../../index.ts'
import type { AnsweredCall } from './answered-calls.ts'
import { bestQuote, lastLineOf, type Quote, quoteText } from './quote.ts'

/** A line behind which a researcher that is a script can be asked to read on. */
export interface Further {
  readonly path: string
  readonly line: number
}

const linesRead = 12

/** The question what follows behind a quote. */
export function furtherQuestion(quote: Quote): string {
  return `What follows behind ${quote.path}:${lastLineOf(quote)}?`
}

/** The other way round; `undefined` for another question. */
export function readFurther(asked: string): Further | undefined {
  const [, path, line] = /^What follows behind (.+):(\d+)\?$/.exec(asked) ?? []
  return path === undefined ? undefined : { path, line: Number(line) }
}

/** Reads on and quotes what follows. */
export function answerFurther({ path, line }: Further, calls: readonly AnsweredCall[]): ScriptedReply {
  const read = calls.find(({ name }) => name === 'read_file')
  if (read === undefined) {
    const input = { path, from: line + 1, lines: linesRead }
    return { text: 'I read on there.', toolCalls: [{ name: 'read_file', arguments: input }] }
  }
  const quote = read.isError ? undefined : bestQuote(path, read.text, new Map())
  return quote === undefined ? 'Nothing follows.' : quoteText(quote)
}
