import { collapsed } from '../../base/one-line.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { plainText } from '../../tools/files/clean-text.ts'
import { isThenable } from '../../base/is-thenable.ts'
import type { ToolCallEvent } from './tool-call-event.ts'

/** Gets each call of a chat session once it has its result. What it returns counts for nothing. */
export type Observer = (event: ToolCallEvent) => unknown

type Failed = (call: { readonly callId: string; readonly tool: string }, message: string) => void

interface Observing {
  readonly observer: Observer
  /** A failure of it was printed. */
  hasFailed: boolean
}

/** The observers of a chat session, in the order in which they were added. */
export class Observers {
  readonly #all = new Set<Observing>()
  readonly #failed: Failed

  /** @param failed called for each failure of an observer */
  constructor(failed: Failed) {
    this.#failed = failed
  }

  /** Returns a function that removes it. */
  add(observer: Observer): () => void {
    const observing = { observer, hasFailed: false }
    this.#all.add(observing)
    return () => void this.#all.delete(observing)
  }

  /** Calls all that are there now; what one of them does changes nothing for the others. */
  call(event: ToolCallEvent): void {
    // One that is removed meanwhile is still called.
    for (const observing of Array.from(this.#all)) {
      try {
        const result = observing.observer(event)
        if (isThenable(result)) Promise.resolve(result).catch((error: unknown) => this.#note(observing, event, error))
      } catch (error) {
        this.#note(observing, event, error)
      }
    }
  }

  #note(observing: Observing, { call }: ToolCallEvent, error: unknown): void {
    const message = thrownMessage(error)
    if (!observing.hasFailed) {
      observing.hasFailed = true
      const { name } = observing.observer
      const which = name === '' ? 'An observer' : `The observer ${name}`
      process.stderr.write(`${which} failed, and will not be reported again: ${collapsed(plainText(message))}\n`)
    }
    this.#failed({ callId: call.id, tool: call.tool }, message)
  }
}
