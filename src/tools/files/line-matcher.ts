import { createContext, Script } from 'node:vm'
import { Refusal } from './refusal.ts'
import type { TextLine } from './text-chunks.ts'

/** Real milliseconds per piece of a file; most take less than one. */
const maxPieceMs = 1_000

const script = new Script('run()')

/** Runs a regular expression in a `vm` script: it may backtrack forever, and only a script can be stopped. */
export class LineMatcher {
  readonly #regex: RegExp
  readonly #context = createContext({ run: () => [] as boolean[] })

  /** @throws Refusal when the pattern is no regular expression */
  constructor(pattern: string, { literal, ignoreCase }: { readonly literal: boolean; readonly ignoreCase: boolean }) {
    const source = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) : pattern
    this.#regex = compiled(source, ignoreCase ? 'i' : '')
  }

  /** @throws Refusal when it takes too long */
  matches(lines: readonly TextLine[], path: string): boolean[] {
    this.#context['run'] = () => lines.map(({ text }) => this.#regex.test(text))
    try {
      return script.runInContext(this.#context, { timeout: maxPieceMs }) as boolean[]
    } catch (error) {
      // The error is of the script's realm, not an `Error` of this one.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      throw Refusal.of(path, 'takes too long to match: the pattern backtracks without end. Write a simpler one.')
    }
  }
}

/** Prefers full Unicode; models often escape more than it allows. */
function compiled(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, `${flags}u`)
  } catch {
    // The second try reports the error, without the flag that the model did not set.
  }
  try {
    return new RegExp(source, flags)
  } catch (error) {
    throw new Refusal(
      `The pattern is no regular expression (${(error as Error).message}). literal=true takes it as text.`,
    )
  }
}
