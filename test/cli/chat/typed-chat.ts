import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { onTestFinished } from 'vitest'
import { ChatUi, type ChatUiOptions } from '../../../src/cli/chat/chat-ui.ts'
import type { Look } from '../../../src/cli/chat/look.ts'
import { MarkdownStream } from '../../../src/cli/chat/markdown.ts'
import { ScreenReader } from './screen-reader.ts'

export const plainLook: Look = { paint: (_style, text) => text, isAscii: false }

/** The chat's screen and keyboard in this process, on a terminal emulator. */
export class TypedChat {
  readonly screen: ScreenReader
  readonly ui: ChatUi
  readonly submitted: string[] = []
  /** Commands beside an open question. */
  readonly asides: string[] = []
  readonly keys: string[] = []
  /** All that was written to the terminal. */
  sent = ''
  readonly #input = new PassThrough()
  readonly #out: EventEmitter & { columns: number; rows: number }

  constructor({
    columns = 60,
    rows = 20,
    ...options
  }: Partial<ChatUiOptions> & { columns?: number; rows?: number } = {}) {
    this.screen = new ScreenReader(columns, rows)
    this.#out = Object.assign(new EventEmitter(), { columns, rows, write: (text: string) => this.#write(text) })
    const look = options.look ?? plainLook
    this.ui = new ChatUi({
      input: this.#input,
      out: this.#out as ChatUiOptions['out'] & EventEmitter,
      look,
      cwd: process.cwd(),
      history: [],
      markdown: () => Promise.resolve(new MarkdownStream(look)),
      onSubmit: (text) => void this.submitted.push(text),
      onAside: (line) => void this.asides.push(line),
      onEscape: () => void this.keys.push('escape'),
      onInterrupt: () => void this.keys.push('interrupt'),
      onQuit: () => void this.keys.push('quit'),
      ...options,
    })
    onTestFinished(() => this.ui.close())
  }

  #write(text: string): void {
    this.sent += text
    this.screen.write(text)
  }

  type(text: string): void {
    this.#input.write(text)
  }

  resize(columns: number, rows: number): void {
    this.screen.resize(columns, rows)
    Object.assign(this.#out, { columns, rows })
    this.#out.emit('resize')
  }
}
