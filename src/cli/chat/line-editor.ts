import { PassThrough, Writable } from 'node:stream'
import { createInterface, emitKeypressEvents, type Interface, type Key } from 'node:readline'

/** A terminal's keyboard. */
export interface KeyInput extends NodeJS.ReadableStream {
  setRawMode?(isRaw: boolean): unknown
}

/** Keys that mean something beside the line. */
export type KeyName = 'escape' | 'ctrl-c' | 'ctrl-d' | 'ctrl-v' | 'ctrl-z'

export interface LineEditorOptions {
  readonly history: readonly string[]
  /** What Tab may put in place of a part of the line before the cursor. */
  readonly complete: (before: string) => readonly [candidates: readonly string[], replaced: string]
  /** The line, or the cursor in it, has changed. */
  readonly onChange: () => void
  /** `shown`: the text with long pasted blocks as a note each. */
  readonly onSubmit: (text: string, shown: string) => void
  /** Sees each key first; `true`: it has taken the key. */
  readonly onKey: (name: KeyName) => boolean
  /** What stands for a pasted text; `undefined`: itself. */
  readonly onPaste?: ((text: string) => string | undefined) | undefined
  /** Several candidates for Tab. */
  readonly onCandidates: (candidates: readonly string[]) => void
}

/** Stands for a line break while a text is edited: Node's line editor knows one line. */
const lineBreak = '\u{e000}'
const maxHistory = 1_000
/** A pasted block of more characters is not drawn with the line, but stands there as a note. */
const maxShownPaste = 2_000
/** An Escape that begins no sequence is one after this time. */
const escapeTimeoutMs = 50
const pasteOn = '\u001b[?2004h'
const pasteOff = '\u001b[?2004l'

/**
 * The keys of a terminal as lines: Node's line editing with history and completion. A pasted block is one text, and so are
 * lines that end in a backslash. It draws nothing: `text` and `cursor` say what there is to draw.
 */
export class LineEditor {
  readonly #input: KeyInput
  readonly #out: { write(text: string): unknown }
  readonly #options: LineEditorOptions
  readonly #lines: Interface
  #pasted: string | undefined
  /** Long blocks, by the note that stands for them in the line. */
  readonly #pastes = new Map<string, string>()
  #keepsHistory = true
  readonly #pressed = (text: string | undefined, key: Key): void => this.#press(text, key)

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
      escapeCodeTimeout: escapeTimeoutMs,
      completer: (line: string) => this.#complete(line),
    })
    this.#lines.on('line', (line) => options.onSubmit(this.#withPastes(inLines(line)), inLines(line)))
    emitKeypressEvents(input, this.#lines)
    input.on('keypress', this.#pressed)
    this.resume()
  }

  /** Takes the keys from the terminal. */
  resume(): void {
    this.#input.setRawMode?.(true)
    this.#input.resume()
    this.#out.write(pasteOn)
  }

  /** Gives the terminal back as it was. */
  pause(): void {
    this.#input.setRawMode?.(false)
    this.#input.pause()
    this.#out.write(pasteOff)
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
    this.#options.onChange()
  }

  /** Replaces the line by a message to be edited. */
  propose(text: string): void {
    this.set(this.#noted(text))
  }

  /** Writes a text where the cursor is. */
  insert(text: string): void {
    const line = inOneLine(text)
    if (line !== '') this.#lines.write(line)
  }

  close(): void {
    this.#input.off('keypress', this.#pressed)
    this.pause()
    this.#lines.close()
  }

  #press(text: string | undefined, key: Key): void {
    if (key.name === 'paste-start') this.#pasted = ''
    else if (key.name === 'paste-end') this.#paste()
    else if (this.#pasted !== undefined) this.#pasted += text ?? key.sequence ?? ''
    else this.#type(text, key)
    if (this.#pasted === undefined) this.#options.onChange()
  }

  #paste(): void {
    const text = (this.#pasted ?? '').replaceAll(/\r\n?/g, '\n').replaceAll('\t', '    ')
    this.#pasted = undefined
    this.insert(this.#options.onPaste?.(text) ?? this.#noted(text))
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

  #type(text: string | undefined, key: Key): void {
    const name = nameOf(key)
    if (name !== undefined && (name !== 'ctrl-d' || this.#lines.line === '') && this.#options.onKey(name)) return
    if (name !== undefined && name !== 'ctrl-d') return
    if (key.name === 'enter' || (key.name === 'return' && key.meta === true)) this.insert('\n')
    else if (key.name === 'return') this.#enter()
    else if ((key.name === 'up' || key.name === 'down') && this.#moveByLine(key.name)) return
    // Node's line editor would clear a screen that is not its own.
    else if (key.ctrl === true && key.name === 'l') return
    else this.#lines.write(text ?? '', key)
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

  #complete(line: string): [string[], string] {
    const [candidates, replaced] = this.#options.complete(inLines(line))
    if (candidates.length > 1) this.#options.onCandidates(candidates)
    return [[...candidates], replaced]
  }
}

function nameOf({ name, ctrl = false, meta = false }: Key): KeyName | undefined {
  if (name === 'escape' && !ctrl) return 'escape'
  if (!ctrl || meta) return undefined
  return name === 'c' || name === 'd' || name === 'v' || name === 'z' ? `ctrl-${name}` : undefined
}

function inOneLine(text: string): string {
  // Node's line editor takes these two for line breaks as well.
  return text.replaceAll(/\r?\n|[\u2028\u2029]/g, lineBreak)
}

function inLines(line: string): string {
  return line.replaceAll(lineBreak, '\n')
}
