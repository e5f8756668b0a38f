import { PassThrough, Writable } from 'node:stream'
import { createInterface, type Interface } from 'node:readline'
import { TerminalKeys } from '../keyboard/terminal-keys.ts'
import { TypedBursts } from '../keyboard/typed-bursts.ts'
import type { TypedInput, TypedKey } from '../keyboard/key-codes.ts'

/** A terminal's keyboard. */
export interface KeyInput extends NodeJS.ReadableStream {
  setRawMode?(isRaw: boolean): unknown
}

/** Keys that mean something beside the line. */
export type KeyName = 'escape' | 'up' | 'down' | 'tab' | 'return' | `ctrl-${'c' | 'd' | 'r' | 'v' | 'z'}`

/** Keys that the editor itself has nothing to do with. */
const keysOfOthers: ReadonlySet<KeyName> = new Set(['escape', 'tab', 'ctrl-c', 'ctrl-r', 'ctrl-v', 'ctrl-z'])

export interface LineEditorOptions {
  readonly history: readonly string[]
  /** The line, or the cursor in it, has changed. @param isTyped by a text, or by deleting one */
  readonly onChange: (isTyped: boolean) => void
  /** `shown`: the text with long pasted blocks as a note each. */
  readonly onSubmit: (text: string, shown: string) => void
  /** Sees each key first; `true`: it has taken the key. */
  readonly onKey: (name: KeyName) => boolean
  /** What stands for a pasted text; `undefined`: itself. */
  readonly onPaste?: ((text: string) => string | undefined) | undefined
}

/**
 * Node's line editor knows one line. While a text is edited, these stand for what would end it: halves of a surrogate pair,
 * which no text from a terminal has.
 */
const standIns: ReadonlyMap<string, string> = new Map([
  ['\n', '\udc0a'],
  ['\r', '\udc0d'],
  ['\u2028', '\udc28'],
  ['\u2029', '\udc29'],
])
const stoodFor: ReadonlyMap<string, string> = new Map(Array.from(standIns, ([sign, standIn]) => [standIn, sign]))
const lineBreak = '\udc0a'
const maxHistory = 1_000
/** A pasted block of more characters is not drawn with the line, but stands there as a note. */
const maxShownPaste = 2_000
/**
 * The terminal says where a paste begins and ends, and sends Shift-Enter as a key of its own: in kitty's protocol and in
 * xterm's. Some take the latter for a style, and so it is put back.
 */
const keysOn = '\u001b[?2004h\u001b[>1u\u001b7\u001b[>4;1m\u001b8'
const keysOff = '\u001b7\u001b[>4;0m\u001b8\u001b[<u\u001b[?2004l'

/**
 * The keys of a terminal as lines: Node's line editing with history and completion. A pasted block is one text, and so are
 * lines that end in a backslash. It draws nothing: `text` and `cursor` say what there is to draw.
 */
export class LineEditor {
  readonly #input: KeyInput
  readonly #out: { write(text: string): unknown }
  readonly #options: LineEditorOptions
  readonly #lines: Interface
  readonly #bursts = new TypedBursts((input) => this.#take(input))
  readonly #keys = new TerminalKeys((input) => this.#bursts.push(input))
  #isTaking = false
  readonly #giveBack = (): void => void this.#out.write(keysOff)
  /** Long blocks, by the note that stands for them in the line. */
  readonly #pastes = new Map<string, string>()
  #keepsHistory = true
  readonly #read = (bytes: Uint8Array): void => this.#keys.write(bytes)

  constructor(input: KeyInput, out: { write(text: string): unknown }, options: LineEditorOptions) {
    this.#input = input
    this.#out = out
    this.#options = options
    this.#lines = createInterface({
      input: new PassThrough(),
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      terminal: true,
      history: options.history.map(inOneLine),
      historySize: maxHistory,
      removeHistoryDuplicates: true,
    })
    this.#lines.on('line', (line) => options.onSubmit(this.#withPastes(inLines(line)), inLines(line)))
    input.on('data', this.#read)
    this.resume()
  }

  /** Takes the keys from the terminal. */
  resume(): void {
    if (this.#isTaking) return
    this.#isTaking = true
    this.#input.setRawMode?.(true)
    this.#input.resume()
    this.#out.write(keysOn)
    process.on('exit', this.#giveBack)
  }

  /** Gives the terminal back as it was. */
  pause(): void {
    if (!this.#isTaking) return
    this.#isTaking = false
    process.off('exit', this.#giveBack)
    this.#giveBack()
    this.#input.setRawMode?.(false)
    this.#input.pause()
  }

  get text(): string {
    return inLines(this.#lines.line)
  }

  get cursor(): number {
    return this.#lines.cursor
  }

  /** Replaces the line; `keepsHistory` is false while it holds no message. */
  set(text: string, { keepsHistory = true }: { readonly keepsHistory?: boolean } = {}): void {
    this.#keepsHistory = keepsHistory
    this.#lines.write(null, { ctrl: true, name: 'e' })
    this.#lines.write(null, { ctrl: true, name: 'u' })
    this.insert(text)
    this.#options.onChange(false)
  }

  /** Replaces the line by a message to be edited. */
  propose(text: string): void {
    this.set(this.#noted(text))
  }

  /** Puts a text in the place of as many characters before the cursor. */
  replaceBefore(count: number, text: string): void {
    const { cursor, line } = this.#lines
    const start = line.slice(0, cursor - count) + inOneLine(text)
    Object.assign(this.#lines, { line: start + line.slice(cursor), cursor: start.length })
  }

  /** Writes a text where the cursor is. */
  insert(text: string): void {
    const line = inOneLine(text)
    if (line !== '') this.#lines.write(line)
  }

  close(): void {
    this.#input.off('data', this.#read)
    this.#keys.close()
    this.#bursts.close()
    this.pause()
    this.#lines.close()
  }

  #take(input: TypedInput): void {
    if (input.kind === 'paste') this.insert(this.#options.onPaste?.(input.text) ?? this.#noted(input.text))
    else if (input.kind === 'text') this.insert(this.#noted(input.text))
    else this.#press(input.key)
    this.#options.onChange(
      input.kind === 'text' || (input.kind === 'key' && /^(?:backspace|delete)$/.test(input.key.name ?? '')),
    )
  }

  /** A long text as a note that stands for it. */
  #noted(text: string): string {
    if (text.length <= maxShownPaste) return text
    const note = `[pasted ${this.#pastes.size + 1}: ${text.replace(/\n$/, '').split('\n').length} lines]`
    this.#pastes.set(note, text)
    return note
  }

  #withPastes(text: string): string {
    return text.replaceAll(/\[pasted \d+: \d+ lines\]/g, (note) => this.#pastes.get(note) ?? note)
  }

  #press(key: TypedKey): void {
    const name = nameOf(key)
    if (name !== undefined && (name !== 'ctrl-d' || this.#lines.line === '') && this.#options.onKey(name)) return
    if (name !== undefined && keysOfOthers.has(name)) return
    const isEnter = key.name === 'return'
    const isModified = key.meta === true || key.shift === true || key.ctrl === true
    if (key.name === 'enter' || (isEnter && isModified)) this.insert('\n')
    else if (isEnter) this.#enter()
    else if ((key.name === 'up' || key.name === 'down') && this.#moveByLine(key.name)) return
    // Node's line editor would clear a screen that is not its own.
    else if (key.ctrl === true && key.name === 'l') return
    else this.#lines.write('', key)
  }

  /** A line that ends in a backslash goes on. */
  #enter(): void {
    const { line, cursor } = this.#lines
    if (cursor === line.length && line.endsWith('\\')) {
      this.#lines.write(null, { name: 'backspace' })
      this.insert('\n')
      return
    }
    if (this.#keepsHistory) this.#lines.write(null, { name: 'return' })
    else {
      const { text } = this
      this.set('', { keepsHistory: false })
      this.#options.onSubmit(text, text)
    }
  }

  /** Moves the cursor within a text of several lines; `false` from its first line up, and from its last one down. */
  #moveByLine(direction: 'up' | 'down'): boolean {
    const { line, cursor } = this.#lines
    const start = line.lastIndexOf(lineBreak, cursor - 1) + 1
    const end = line.indexOf(lineBreak, cursor)
    if (direction === 'up' ? start === 0 : end === -1) {
      // Up looks for entries that begin as the line does before the cursor.
      if (direction === 'up' && end !== -1) this.#lines.write(null, { ctrl: true, name: 'a' })
      return false
    }
    const [from, to] =
      direction === 'up'
        ? [line.lastIndexOf(lineBreak, start - 2) + 1, start - 1]
        : [end + 1, line.indexOf(lineBreak, end + 1) === -1 ? line.length : line.indexOf(lineBreak, end + 1)]
    const target = Math.min(from + cursor - start, to)
    const name = direction === 'up' ? 'left' : 'right'
    const isThere = (): boolean => (name === 'left' ? this.#lines.cursor <= target : this.#lines.cursor >= target)
    while (!isThere()) this.#lines.write(null, { name })
    return true
  }
}

function nameOf({ name = '', ctrl = false, meta = false, shift = false }: TypedKey): KeyName | undefined {
  if (ctrl && !meta && /^[cdrvz]$/.test(name)) return `ctrl-${name as 'c'}`
  if (name === 'escape' && !ctrl) return name
  const isOwn = name === 'up' || name === 'down' || name === 'tab' || name === 'return'
  return isOwn && !ctrl && !meta && !shift ? name : undefined
}

function inOneLine(text: string): string {
  return text.toWellFormed().replaceAll(/[\n\r\u2028\u2029]/g, (sign) => standIns.get(sign) ?? sign)
}

function inLines(line: string): string {
  return line.replaceAll(/\p{Surrogate}/gu, (standIn) => stoodFor.get(standIn) ?? standIn)
}
