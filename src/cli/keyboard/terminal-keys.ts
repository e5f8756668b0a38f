import { StringDecoder } from 'node:string_decoder'
import { keyOfApplication, keyOfControl, keyOfSequence, type TypedInput } from './key-codes.ts'

/** An Escape that begins no sequence is one after this time. */
const escapeTimeoutMs = 100
/** A sequence of which no more arrives for this time is dropped. */
const sequenceTimeoutMs = 1_000
/** A longer answer of the terminal is dropped as it arrives. */
const maxAnswerBytes = 1_000_000
const pasteStart = '\u001b[200~'
const pasteEnd = '\u001b[201~'

// All of these read bytes, one a character.
/* oxlint-disable no-control-regex */
const texts = /^[\u0020-\u007e\u0080-\u00ff]+/
/** A tab that is no key: a text follows at once. */
const tabsInText = /^\t+(?=[\t\r\n]*[\u0020-\u007e\u0080-\u00ff])/
const sequences = /^\u001b\[([0-?]*)([ -/]*)([@-~])/
const openSequences = /^\u001b\[[0-?]*[ -/]*$/
const applications = /^\u001bO(\d*)([@-~])/
const openApplications = /^\u001bO\d*$/
/** OSC, DCS, APC, PM and SOS: texts of any length up to a terminator. */
const answerStarts = /^\u001b[\]P_^X]/
/** What ends such a text: its terminator, or a control character that no such text has. */
const answerEnds = /\u001b\\|\u0007|[\u0000-\u0006\u0008-\u001a\u001c-\u001f]|\u001b(?=[^\\])/
/** The rest of an answer whose Escape arrived so long before that it was taken for the key. */
const answerRests = /^(?:\[[<=>?][\d;]|\[\d+;\d+(?:;\d+)*[Rtun]|\[[IO]$|\]\d+;|P[01>!]*[$+|]|_G)/
/* oxlint-enable no-control-regex */

/**
 * The bytes of a terminal's keyboard as keys and texts. What a terminal says by itself (answers, focus, mouse) is left out,
 * wherever the bytes are split into reads.
 */
export class TerminalKeys {
  readonly #onInput: (input: TypedInput) => void
  /** Bytes of a sequence that is not whole yet. */
  #rest = ''
  /** What has arrived of a pasted text. */
  #pasted: string[] | undefined
  readonly #decoder = new StringDecoder('utf8')
  #timer: NodeJS.Timeout | undefined
  #lastEscapeMs = -Infinity

  constructor(onInput: (input: TypedInput) => void) {
    this.#onInput = onInput
  }

  write(bytes: Uint8Array): void {
    clearTimeout(this.#timer)
    const read = Buffer.from(bytes).toString('latin1')
    const isRest = this.#rest === '' && performance.now() - this.#lastEscapeMs < sequenceTimeoutMs
    // A terminal that does not say where a paste ends would keep the keyboard: Ctrl-C ends it.
    const isStuck = this.#pasted !== undefined && read === '\u0003'
    this.#rest += isStuck ? pasteEnd : isRest && answerRests.test(read) ? `\u001b${read}` : read
    while (this.#rest !== '' && this.#take());
    if (this.#rest !== '' && this.#pasted === undefined) this.#wait(escapeTimeoutMs)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#rest = ''
    this.#pasted = undefined
  }

  /** Takes what the rest begins with; `false`: it is not whole. */
  #take(): boolean {
    if (this.#pasted !== undefined) return this.#takePaste(this.#pasted)
    const rest = this.#rest
    const [text] = texts.exec(rest) ?? tabsInText.exec(rest) ?? []
    if (text !== undefined) {
      const whole = this.#decoder.write(Buffer.from(text, 'latin1'))
      if (whole !== '') this.#onInput({ kind: 'text', text: whole })
      return this.#drop(text.length)
    }
    if (!rest.startsWith('\u001b')) {
      this.#onInput({ kind: 'key', key: keyOfControl(rest.charAt(0)) })
      return this.#drop(1)
    }
    return this.#takeSequence(rest)
  }

  #takeSequence(rest: string): boolean {
    if (rest.length === 1) return false
    if (rest.startsWith('\u001b\u001b')) return this.#takeTwoEscapes(rest)
    if (rest.startsWith('\u001b[')) return this.#takeControl(rest)
    if (answerStarts.test(rest)) return this.#takeAnswer(rest)
    if (openApplications.test(rest)) return false
    const [application, parameters = '', final = ''] = applications.exec(rest) ?? []
    if (application !== undefined) return this.#key(keyOfApplication(parameters, final), application.length)
    // Alt and a key.
    const sign = rest.charAt(1)
    const key = sign < ' ' || sign === '\u007f' ? keyOfControl(sign) : { name: sign.toLowerCase() }
    return this.#key({ kind: 'key', key: { ...key, meta: true, shift: /[A-Z]/.test(sign) } }, 2)
  }

  /** The key twice, or what a terminal sends for Alt and an arrow key. */
  #takeTwoEscapes(rest: string): boolean {
    if (rest.length === 2) return false
    const inner = rest.slice(1)
    if (openSequences.test(inner) || openApplications.test(inner)) return false
    const [whole, parameters = '', , final = ''] = sequences.exec(inner) ?? []
    const found = whole === undefined ? undefined : keyOfSequence(parameters, final)
    if (whole !== undefined && found?.kind === 'key') {
      return this.#key({ kind: 'key', key: { ...found.key, meta: true } }, whole.length + 1)
    }
    return this.#key({ kind: 'key', key: { name: 'escape' } }, 1)
  }

  #takeControl(rest: string): boolean {
    if (rest.startsWith(pasteStart)) {
      this.#pasted = []
      return this.#drop(pasteStart.length)
    }
    // The older mouse events have three bytes behind them, function keys of the Linux console a letter.
    if (rest.startsWith('\u001b[M')) return rest.length >= 6 && this.#drop(6)
    if (rest.startsWith('\u001b[[')) return rest.length >= 4 && this.#drop(4)
    if (openSequences.test(rest)) return false
    const [whole, parameters = '', between = '', final = ''] = sequences.exec(rest) ?? []
    // A byte that no sequence has ends it.
    if (whole === undefined) return this.#drop(Math.max(2, rest.slice(2).search(/[^ -?]/) + 2))
    return this.#key(between === '' ? keyOfSequence(parameters, final) : undefined, whole.length)
  }

  #takeAnswer(rest: string): boolean {
    const end = answerEnds.exec(rest.slice(2))
    if (end === null) {
      const isLong = rest.length > maxAnswerBytes
      if (isLong) this.#rest = rest.slice(0, 2) + (rest.endsWith('\u001b') ? '\u001b' : '')
      return false
    }
    const [sign] = end
    const isTerminator = sign === '\u001b\\' || sign === '\u0007'
    return this.#drop(2 + end.index + (isTerminator ? sign.length : 0))
  }

  #takePaste(pasted: string[]): boolean {
    const rest = this.#rest
    const end = rest.indexOf(pasteEnd)
    if (end === -1) {
      // The last bytes may be the beginning of its end.
      const kept = pasteEnd.length - 1
      pasted.push(rest.slice(0, -kept))
      this.#rest = rest.slice(-kept)
      return false
    }
    pasted.push(rest.slice(0, end))
    this.#drop(end + pasteEnd.length)
    this.#endPaste()
    return true
  }

  #endPaste(): void {
    const bytes = Buffer.from((this.#pasted ?? []).join(''), 'latin1')
    this.#pasted = undefined
    this.#onInput({ kind: 'paste', text: pastedText(bytes.toString('utf8')) })
  }

  #key(input: TypedInput | undefined, length: number): boolean {
    this.#drop(length)
    if (input !== undefined) this.#onInput(input)
    return true
  }

  #drop(length: number): true {
    this.#rest = this.#rest.slice(length)
    return true
  }

  /** Ends a sequence that does not go on. */
  #wait(timeoutMs: number): void {
    // What has arrived meanwhile is read first, however late this is.
    this.#timer = setTimeout(() => (this.#timer = setTimeout(() => this.#expire(timeoutMs))), timeoutMs)
  }

  #expire(waitedMs: number): void {
    const rest = this.#rest
    const isEscape = rest === '\u001b' || rest === '\u001b\u001b'
    const isAltLetter = /^\u001b[P_^X]$/.test(rest) // oxlint-disable-line no-control-regex
    if (!isEscape && !isAltLetter && waitedMs < sequenceTimeoutMs) return this.#wait(sequenceTimeoutMs)
    this.#rest = ''
    if (!isEscape) return
    this.#lastEscapeMs = performance.now()
    for (const _ of rest) this.#onInput({ kind: 'key', key: { name: 'escape' } })
  }
}

/**
 * A pasted text with line feeds. Most terminals send a carriage return for each line break; where one sends line feeds, a
 * carriage return that stands alone is part of the text.
 */
function pastedText(text: string): string {
  return text.includes('\n') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\r', '\n')
}
