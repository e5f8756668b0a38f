import type { AskPart } from './part.ts'

/** Parts that wait for a reader at most; beyond that the oldest are skipped. */
const maxWaitingParts = 1_000
/** Characters of text and thinking that wait for a reader at most. */
const maxWaitingChars = 1_000_000

/** What happens, for one reader. It never holds up the one who writes, and what waits in it is bounded. */
export class PartStream implements AsyncIterableIterator<AskPart> {
  #ended: (() => void) | undefined
  #waiting: AskPart[] = []
  #chars = 0
  #skipped = 0
  /** The reader has read text or thinking of the model call that is in flight. */
  #hasReadDraft = false
  #isEnded = false
  #error: Error | undefined
  #news = Promise.withResolvers<void>()

  /** Calls a function once all is written, or the reader reads no more. */
  onEnd(ended: () => void): void {
    this.#ended = ended
  }

  write(part: AskPart): void {
    if (this.#isEnded) return
    if (part.type === 'discarded') this.#discard()
    else if (!this.#join(part)) this.#push(part)
    if (part.type === 'end') this.#end()
    else this.#wake()
  }

  /** Ends the stream with an error, behind what waits. */
  fail(error: Error): void {
    if (this.#isEnded) return
    this.#error = error
    this.#end()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<AskPart, undefined>> {
    for (;;) {
      const part = this.#take()
      if (part !== undefined) return { done: false, value: part }
      if (this.#error !== undefined) {
        const error = this.#error
        this.#error = undefined
        throw error
      }
      if (this.#isEnded) return { done: true, value: undefined }
      await this.#news.promise
    }
  }

  async return(): Promise<IteratorResult<AskPart, undefined>> {
    this.#waiting = []
    this.#error = undefined
    this.#end()
    return { done: true, value: undefined }
  }

  #take(): AskPart | undefined {
    if (this.#skipped > 0) {
      const parts = this.#skipped
      this.#skipped = 0
      return { type: 'skipped', parts }
    }
    const part = this.#waiting.shift()
    if (part === undefined) return undefined
    this.#chars -= charsOf(part)
    this.#hasReadDraft = isDraft(part)
    return part
  }

  #push(part: AskPart): void {
    this.#waiting.push(part)
    this.#chars += charsOf(part)
    while (this.#waiting.length > maxWaitingParts || (this.#chars > maxWaitingChars && this.#waiting.length > 1)) {
      this.#chars -= charsOf(this.#waiting.shift() as AskPart)
      this.#skipped++
    }
  }

  /** Text joins the text before it, and progress takes the place of the progress before it. */
  #join(part: AskPart): boolean {
    const last = this.#waiting.at(-1)
    if (last?.type !== part.type) return false
    if (isDraft(part) && isDraft(last)) {
      if (last.text.length + part.text.length > maxWaitingChars) return false
      this.#waiting[this.#waiting.length - 1] = { ...last, text: last.text + part.text }
      this.#chars += part.text.length
      return true
    }
    if (part.type !== 'tool-progress' || last.type !== 'tool-progress' || last.callId !== part.callId) return false
    this.#waiting[this.#waiting.length - 1] = part
    return true
  }

  /** What was not read yet of a call that was cut off is never shown. */
  #discard(): void {
    for (;;) {
      const last = this.#waiting.at(-1)
      if (last === undefined || !isDraft(last)) break
      this.#chars -= last.text.length
      this.#waiting.pop()
    }
    if (this.#waiting.length === 0 && this.#hasReadDraft) this.#push({ type: 'discarded' })
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#wake()
    this.#ended?.()
  }

  /** Wakes the reader, if it waits. */
  #wake(): void {
    this.#news.resolve()
    this.#news = Promise.withResolvers<void>()
  }
}

type Draft = Extract<AskPart, { readonly type: 'text' | 'thinking' }>

function isDraft(part: AskPart): part is Draft {
  return part.type === 'text' || part.type === 'thinking'
}

function charsOf(part: AskPart): number {
  return isDraft(part) ? part.text.length : 0
}
