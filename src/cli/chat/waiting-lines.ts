import type { UserMessage } from '../../index.ts'
import type { ChatUi } from './chat-ui.ts'
import type { Pictures } from './pictures.ts'

/** A message that joins the turn at its next step. */
export interface WaitingLine {
  readonly text: string
  /** The text as it was typed, without what was pasted. */
  readonly shown: string
  readonly message: UserMessage
}

/** Lines that were typed while the agent works, and that no step has read. They stand above the prompt until then. */
export class WaitingLines {
  readonly #ui: ChatUi
  readonly #pictures: Pictures
  #lines: readonly WaitingLine[] = []

  constructor(ui: ChatUi, pictures: Pictures) {
    this.#ui = ui
    this.#pictures = pictures
  }

  add(line: WaitingLine): void {
    this.#set([...this.#lines, line])
  }

  /** The agent has read them: they stand in the conversation. */
  read(): void {
    if (this.#lines.length > 0) this.#say(this.#take())
  }

  /**
   * A turn is cancelled that takes back what was not read: that stands in the line again, before what is being typed.
   *
   * @param cancel gets how many lines wait; gives how many of the newest were taken back
   */
  async takenBack(cancel: (count: number) => Promise<number>): Promise<void> {
    const lines = this.#take()
    let taken = 0
    try {
      taken = await cancel(lines.length)
    } finally {
      const unread = lines.slice(lines.length - taken)
      this.#say(lines.slice(0, lines.length - taken))
      for (const { message, text } of unread) this.#pictures.restore(message, text)
      if (unread.length > 0) this.#ui.putBack(unread.map(({ text }) => text).join('\n'))
    }
  }

  #take(): readonly WaitingLine[] {
    const lines = this.#lines
    this.#set([])
    return lines
  }

  #set(lines: readonly WaitingLine[]): void {
    this.#lines = lines
    this.#ui.waiting(lines.map(({ shown }) => shown))
  }

  #say(lines: readonly WaitingLine[]): void {
    if (lines.length === 0) return
    this.#ui.gap()
    for (const { shown } of lines) this.#ui.say(`› ${shown}`, 'bold')
    this.#ui.gap()
  }
}
