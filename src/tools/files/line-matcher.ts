import { createContext, Script } from 'node:vm'
import { Refusal } from './refusal.ts'
import type { TextLine } from './text-chunks.ts'

/** Longest time that one piece of a file may take, in milliseconds of real time; most take less than one. */
const maxPieceMs = 1_000

const script = new Script('run()')

/**
 * Finds lines by a pattern. A regular expression may take longer than the universe lasts, and nothing in the same thread
 * can stop it; but what runs in a `vm` script can be stopped from outside, what that script calls included.
 */
export class LineMatcher {
  readonly #regex: RegExp
  readonly #context = createContext({ run: () => [] as boolean[] })

  /** @throws Refusal when the pattern is no regular expression */
  constructor(pattern: string, { literal, ignoreCase }: { readonly literal: boolean; readonly ignoreCase: boolean }) {
    const source = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) : pattern
    this.#regex = compiled(source, ignoreCase ? 'i' : '')
  }

  /**
   * Which of the lines match.
   *
   * @throws Refusal when that takes too long
   */
  matches(lines: readonly TextLine[], path: string): boolean[] {
    this.#context['run'] = () => lines.map(({ text }) => this.#regex.test(text))
    try {
      return script.runInContext(this.#context, { timeout: maxPieceMs }) as boolean[]
    } catch (error) {
      // The error belongs to the script's realm, so it is no `Error` of this one.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      throw Refusal.of(path, 'takes too long to match: the pattern backtracks without end. Write a simpler one.')
    }
  }
}

/** With full Unicode where the pattern allows it; models often escape more than that mode takes. */
function compiled(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, `${flags}u`)
  } catch {
    // The second try tells the model about it, without the flag that it did not set.
  }
  try {
    return new RegExp(source, flags)
  } catch (error) {
    throw new Refusal(
      `The pattern is no regular expression (${(error as Error).message}). literal=true takes it as text.`,
    )
  }
}
