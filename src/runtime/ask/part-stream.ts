import { BoundedStream } from '../bounded-stream.ts'
import type { AskPart } from './part.ts'

/** Parts that wait for a reader at most. */
const maxWaitingParts = 1_000
/** Characters of text and thinking that wait for a reader at most. */
const maxWaitingChars = 1_000_000

/** What happens in a turn, for one reader. A slow one gets several pieces of text as one. */
export class PartStream extends BoundedStream<AskPart> {
  #chars = 0
  /** The reader has read text or thinking of the model call that is in flight. */
  #hasReadDraft = false

  write(part: AskPart): void {
    if (this.isEnded) return
    if (part.type === 'discarded') this.#discard()
    else if (!this.#join(part)) this.#push(part)
    if (part.type === 'end') this.end()
    else this.wake()
  }

  protected isTooFull(): boolean {
    return this.waiting.length > maxWaitingParts || (this.#chars > maxWaitingChars && this.waiting.length > 1)
  }

  protected skippedNote(parts: number): AskPart {
    return { type: 'skipped', parts }
  }

  protected override left(part: AskPart, isRead: boolean): void {
    this.#chars -= charsOf(part)
    if (isRead) this.#hasReadDraft = isDraft(part)
  }

  #push(part: AskPart): void {
    this.#chars += charsOf(part)
    this.add(part)
  }

  /** Text joins the text before it, and progress takes the place of the progress before it. */
  #join(part: AskPart): boolean {
    const last = this.waiting.at(-1)
    if (last?.type !== part.type) return false
    if (isDraft(part) && isDraft(last)) {
      if (last.text.length + part.text.length > maxWaitingChars) return false
      this.waiting[this.waiting.length - 1] = { ...last, text: last.text + part.text }
      this.#chars += part.text.length
      return true
    }
    if (part.type !== 'tool-progress' || last.type !== 'tool-progress' || last.callId !== part.callId) return false
    this.waiting[this.waiting.length - 1] = part
    return true
  }

  /** What was not read yet of a call that was cut off is never shown. */
  #discard(): void {
    for (;;) {
      const last = this.waiting.at(-1)
      if (last === undefined || !isDraft(last)) break
      this.#chars -= last.text.length
      this.waiting.pop()
    }
    if (this.waiting.length === 0 && this.#hasReadDraft) this.#push({ type: 'discarded' })
  }
}

type Draft = Extract<AskPart, { readonly type: 'text' | 'thinking' }>

function isDraft(part: AskPart): part is Draft {
  return part.type === 'text' || part.type === 'thinking'
}

function charsOf(part: AskPart): number {
  return isDraft(part) ? part.text.length : 0
}
