import { plainText } from '../../tools/files/clean-text.ts'
import { durationText } from '../terminal/amounts.ts'
import {
  answerRows,
  answersText,
  answerText,
  type ApprovalAnswer,
  approvalAnswer,
  approvalText,
  type AskedCall,
} from './approval-text.ts'
import { ChatScreen, type LiveView, type ScreenOutput } from './chat-screen.ts'
import { type KeyInput, type KeyName, LineEditor } from './line-editor.ts'
import type { Look, Style } from './look.ts'
import type { Line, MarkdownStream } from './markdown.ts'
import { LineMenu } from './line-menu.ts'
import type { MenuItem } from './menu.ts'
import { type StatusFacts, statusLine } from './status-line.ts'
import { typedLine } from './slash-commands.ts'

export interface ChatUiOptions {
  readonly input: KeyInput
  readonly out: ScreenOutput
  readonly look: Look
  readonly cwd: string
  readonly history: readonly string[]
  /** Loads what renders Markdown: the first reply needs it, not the prompt. */
  readonly markdown: () => Promise<MarkdownStream>
  readonly onSubmit: (text: string, shown: string) => void
  /** A slash command, typed while a question is open. */
  readonly onAside: (line: string) => void
  readonly onEscape: () => void
  /** Ctrl-C while a turn runs, or at an empty prompt for the second time. */
  readonly onInterrupt: () => void
  readonly onQuit: () => void
  /** What stands in the line for a pasted text; `undefined`: itself. */
  readonly onPaste?: (text: string) => string | undefined
  /** The picture in the clipboard is wanted. */
  readonly onPastePicture?: () => void
  /** What stands below the line. Absent: nothing does. */
  readonly status?: (() => StatusFacts) | undefined
  /** Commands beside those of the program. */
  readonly commands?: (() => readonly MenuItem[]) | undefined
  /** Stops the program until it is continued, where the system can. */
  readonly suspend?: (() => void) | undefined
}

/** Something that the user decides by a line. */
export interface Question<T> {
  /** The answers that it takes. */
  readonly hint: string
  /** What a typed line says; `undefined`: none of the answers. */
  readonly answer: (text: string) => T | undefined
  /** What holds when it is not to be decided any more. */
  readonly otherwise: T
}

interface OpenQuestion {
  readonly hint: string
  readonly take: (text: string) => void
  /** Escape. */
  readonly leave: () => void
}

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const asciiSpinner = ['|', '/', '-', '\\']
const spinMs = 100

/** What a person sees and types: text above, the line being typed below, which never waits for the text. */
export class ChatUi {
  readonly #options: ChatUiOptions
  readonly #screen: ChatScreen
  readonly #editor: LineEditor
  #reply: MarkdownStream | undefined
  /** Text that came before the renderer was loaded. */
  #early = ''
  /** Of the reply that is open. */
  #loading: Promise<void> | undefined
  #work: { text: string; readonly since: number } | undefined
  #waiting: readonly string[] = []
  #spin: NodeJS.Timeout | undefined
  #frame = 0
  #question: OpenQuestion | undefined
  readonly #menu: LineMenu
  /** The newest line, on a terminal that shows itself what is typed. */
  #typed: string | undefined
  /** Ctrl-C has been pressed at an empty line, and nothing was typed since. */
  #isArmed = false
  #lastIsBlank = true

  constructor(options: ChatUiOptions) {
    this.#options = options
    this.#screen = new ChatScreen(options.out, options.look, (...size) => this.#view(...size))
    const silent = { write: () => undefined }
    this.#editor = new LineEditor(options.input, options.look.isDumb === true ? silent : options.out, {
      history: options.history,
      onChange: (isTyped) => {
        if (this.#editor.text !== '') this.#isArmed = false
        if (this.#question === undefined) this.#menu.changed(isTyped)
        this.#screen.update()
      },
      onSubmit: (text, shown) => this.#submitted(text, shown),
      onPaste: (text) => (this.#question === undefined ? options.onPaste?.(text) : undefined),
      onKey: (name) => this.#key(name),
    })
    this.#menu = new LineMenu(this.#editor, { ...options, onChange: () => this.#screen.update() })
    this.#screen.update()
  }

  /** Prints a paragraph. */
  say(text: string, style?: Style): void {
    // It stands there as it was typed.
    if (this.#options.look.isDumb === true && text === `› ${this.#typed}`) return void (this.#typed = undefined)
    this.#print(
      plainText(text)
        .split('\n')
        .map((line) => ({ text: style === undefined ? line : this.#options.look.paint(style, line) })),
    )
  }

  /** Prints an empty line, unless the last one is empty. */
  gap(): void {
    if (!this.#lastIsBlank) this.#print([{ text: '' }])
  }

  /** A piece of the reply arrives. */
  reply(text: string): void {
    if (this.#reply === undefined) {
      this.#early += text
      this.#loading ??= this.#load()
      return
    }
    this.#reply.push(text)
    // Settles at most as often as it draws.
    this.#screen.update()
  }

  /** The reply is whole. */
  async replyEnd(): Promise<void> {
    if (!(await this.#isOpenStill())) return
    const lines = this.#reply?.end(this.#screen.columns) ?? []
    this.#reply = undefined
    this.#loading = undefined
    this.#print(lines)
    if (lines.length > 0) this.gap()
  }

  /** The reply was cut off, and does not count. */
  async replyDiscarded(): Promise<void> {
    if (!(await this.#isOpenStill())) return
    const hadText = this.#reply?.isEmpty === false
    this.#reply = undefined
    this.#loading = undefined
    if (hadText) this.say('(This reply broke off and does not count.)', 'dim')
  }

  /** What the agent does, beside a spinner; `undefined`: nothing. */
  work(text: string | undefined): void {
    if (text === undefined) {
      this.#work = undefined
      clearInterval(this.#spin)
      this.#spin = undefined
    } else {
      this.#work = { text, since: this.#work?.since ?? performance.now() }
      this.#spin ??= setInterval(() => {
        this.#frame++
        this.#screen.update()
      }, spinMs)
    }
    this.#screen.update()
  }

  get isWorking(): boolean {
    return this.#work !== undefined
  }

  /** Typed lines that the agent has not read yet. */
  waiting(lines: readonly string[]): void {
    this.#waiting = lines
    this.#screen.update()
  }

  /** Asks the user about a call. Aborted: the call is not open any more, and the answer is no. */
  async ask(call: AskedCall, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { cwd, look } = this.#options
    await this.replyEnd()
    const lines = await approvalText(call, { cwd, look })
    this.gap()
    this.#print(lines)
    const shown = (answer: ApprovalAnswer): ApprovalAnswer => {
      this.say(answerText(answer), 'dim')
      return answer
    }
    return this.choose(
      {
        hint: answersText(call),
        otherwise: { approved: false },
        answer: (text) => {
          const answer = approvalAnswer(text, call)
          if (answer !== 'show-all') return answer && shown(answer)
          void this.#showAll(call)
          return 'again'
        },
      },
      signal,
    )
  }

  /** Asks what stands above the line. Aborted: it is not to be decided any more. */
  async choose<T>({ answer, hint, otherwise }: Question<T | 'again'>, signal?: AbortSignal): Promise<T> {
    const no = otherwise as T
    if (signal?.aborted === true) return no
    return new Promise((resolve) => {
      this.#menu.leave()
      // What was being typed when the question came.
      const draft = this.#editor.text
      const settle = (given: T): void => {
        signal?.removeEventListener('abort', aborted)
        this.#question = undefined
        this.#editor.set(draft)
        resolve(given)
      }
      const aborted = (): void => settle(no)
      signal?.addEventListener('abort', aborted)
      const take = (text: string): void => {
        const given = answer(text)
        if (given === undefined) this.say(`'${text}' is none of the answers.`, 'dim')
        else if (given !== 'again') settle(given)
      }
      this.#question = { hint, take, leave: () => take('') }
      if (this.#options.look.isDumb === true) this.say(hint, 'yellow')
      this.#editor.set('', { keepsHistory: false })
    })
  }

  /** Nothing is typed, and nothing is asked. */
  get isEmpty(): boolean {
    return this.#editor.text === '' && this.#question === undefined
  }

  /** Puts a text into the line, if that is empty. */
  propose(text: string): void {
    if (this.#editor.text === '') this.#editor.propose(text)
  }

  /** Puts a text into the line, before what is being typed. */
  putBack(text: string): void {
    const typed = this.#editor.text
    this.#editor.propose(typed === '' ? text : `${text}\n${typed}`)
  }

  /** Writes a text where the cursor is, unless something is asked. */
  insert(text: string): void {
    if (this.#question !== undefined) return
    this.#editor.insert(text)
    this.#screen.update()
  }

  close(): void {
    this.work(undefined)
    this.#question = undefined
    this.#screen.close()
    this.#editor.close()
  }

  /** Waits until the open reply has its renderer. `false`: there is none, or it was ended meanwhile. */
  async #isOpenStill(): Promise<boolean> {
    const open = this.#loading
    await open
    return open !== undefined && open === this.#loading
  }

  async #load(): Promise<void> {
    this.#reply = await this.#options.markdown()
    this.gap()
    this.#reply.push(this.#early)
    this.#early = ''
    this.#screen.update()
  }

  #print(lines: readonly Line[]): void {
    if (lines.length === 0) return
    this.#lastIsBlank = lines.at(-1)?.text === ''
    this.#screen.print(lines)
  }

  #view(columns: number, rowsBelow: number): LiveView {
    const reply = this.#reply
    if (reply !== undefined) this.#print(reply.settled(columns))
    const open = reply === undefined ? [] : reply.open(columns)
    const gap = open.length > 0 || !this.#lastIsBlank ? [{ text: '' }] : []
    const apart = open.length > 0 && !this.#lastIsBlank ? [{ text: '' }] : []
    const line = { prompt: this.#prompt, text: this.#editor.text, cursor: this.#editor.cursor }
    const isOut = this.#options.look.isDumb === true && this.isWorking && this.#question === undefined
    const input = isOut ? undefined : line
    return {
      above: [...apart, ...open, ...gap, ...this.#status(columns)],
      input,
      below: this.#below(columns, rowsBelow),
    }
  }

  #status(columns: number): Line[] {
    const { paint, isAscii } = this.#options.look
    if (this.#question !== undefined) {
      return answerRows(this.#question.hint, columns).map((row) => ({ text: paint('yellow', row) }))
    }
    const waiting = this.#waiting.map((text) => ({
      text: paint('dim', `  › ${plainText(text).replaceAll('\n', ' ')}`),
      isWhole: true as const,
    }))
    if (this.#work === undefined) return waiting
    const frames = isAscii ? asciiSpinner : spinner
    const frame = frames[this.#frame % frames.length] ?? ''
    const took = durationText(performance.now() - this.#work.since)
    const text = `${paint('cyan', frame)} ${plainText(this.#work.text).replaceAll('\n', ' ')} ${paint('dim', `${took} · Esc stops`)}`
    return [...waiting, { text, isWhole: true }]
  }

  /** The menu, or the status line. */
  #below(columns: number, room: number): readonly string[] {
    const { look, status } = this.#options
    const offered = this.#menu.rows(columns, room, look)
    if (offered !== undefined) return offered
    const row = status === undefined ? '' : statusLine(status(), columns)
    return row === '' ? [] : [look.paint('dim', row)]
  }

  get #prompt(): string {
    const { paint } = this.#options.look
    if (this.#menu.isSearching) return paint(['bold', 'cyan'], 'search › ')
    return this.#question === undefined ? paint('bold', '› ') : paint(['bold', 'yellow'], '? ')
  }

  #submitted(text: string, shown: string): void {
    this.#isArmed = false
    this.#typed = shown
    const question = this.#question
    if (question === undefined) {
      if (text.trim() === '') return
      this.#menu.remember(text)
      this.#options.onSubmit(text, shown)
    } else if (text.startsWith('/') && typedLine(text).kind !== 'message') this.#options.onAside(text)
    else question.take(text)
  }

  async #showAll(call: AskedCall): Promise<void> {
    const { cwd, look } = this.#options
    const lines = await approvalText(call, { cwd, look, isWhole: true })
    this.gap()
    this.#print(lines)
  }

  #key(name: KeyName): boolean {
    if (this.#question === undefined && this.#menu.key(name)) return true
    if (name === 'ctrl-z') this.#suspend()
    else if (name === 'ctrl-d') this.#options.onQuit()
    else if (name === 'ctrl-v') this.#pastePicture()
    else if (name === 'escape' && this.#question !== undefined) this.#question.leave()
    else if (name === 'escape') this.#options.onEscape()
    else if (name === 'ctrl-c') this.#interrupted()
    else return false
    return true
  }

  #interrupted(): void {
    if (this.isWorking) this.#options.onInterrupt()
    else if (this.#editor.text !== '') this.#editor.set('')
    else if (this.#isArmed) this.#options.onInterrupt()
    else {
      this.#isArmed = true
      this.say('Press Ctrl-C again to leave.', 'dim')
    }
  }

  #pastePicture(): void {
    if (this.#question === undefined) this.#options.onPastePicture?.()
  }

  #suspend(): void {
    const { suspend } = this.#options
    if (suspend === undefined) return
    this.#screen.pause()
    this.#editor.pause()
    suspend()
    setImmediate(() => {
      this.#editor.resume()
      this.#screen.resume()
    })
  }
}
