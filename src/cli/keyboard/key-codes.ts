/** A key that is no text, named as `node:readline` names it. */
export interface TypedKey {
  readonly name?: string
  readonly ctrl?: boolean
  readonly meta?: boolean
  readonly shift?: boolean
  readonly sequence?: string
}

/** What a person does at a terminal. A pasted text has its own line breaks, however the terminal sent them. */
export type TypedInput =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'key'; readonly key: TypedKey }
  | { readonly kind: 'paste'; readonly text: string }

/** Final letters of `CSI` and `SS3`. */
const byLetter: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  M: 'return',
  // With shift, in rxvt.
  a: 'up',
  b: 'down',
  c: 'right',
  d: 'left',
}

/** Numbers of `CSI n ~`. */
const byNumber: Readonly<Record<string, string>> = {
  1: 'home',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
}

/** Codes of `CSI code u` that are no characters: those of ASCII, and of the keypad in kitty's protocol. */
const byCode: Readonly<Record<number, string>> = {
  8: 'backspace',
  9: 'tab',
  10: 'enter',
  13: 'return',
  27: 'escape',
  127: 'backspace',
  57_414: 'return',
  57_417: 'left',
  57_418: 'right',
  57_419: 'up',
  57_420: 'down',
  57_421: 'pageup',
  57_422: 'pagedown',
  57_423: 'home',
  57_424: 'end',
  57_426: 'delete',
}
const firstKeypadCode = 57_399
const keypadSigns = '0123456789./*-+\r=,'
/** Keys without a character in kitty's protocol, such as media keys and modifiers, have codes of the private use area. */
const firstPrivateCode = 57_344
const lastPrivateCode = 63_743

const shiftBit = 1
const altBit = 2
const ctrlBit = 4
/** Super, hyper and meta. */
const otherBits = 8 | 16 | 32
const released = '3'

/**
 * The key of a control sequence; `undefined`: none, as of a device's report, a focus or mouse event, and a key that is let go.
 *
 * @param parameters between `ESC [` and the last letter
 * @see https://sw.kovidgoyal.net/kitty/keyboard-protocol/
 * @see https://invisible-island.net/xterm/modified-keys.html
 */
export function keyOfSequence(parameters: string, final: string): TypedInput | undefined {
  if (!/^[\d;:]*$/.test(parameters)) return undefined
  const [first = '', second = '', third = ''] = parameters.split(';')
  if (final === 'u') return keyOfCode(first, second, third)
  // As xterm with modifyOtherKeys sends them.
  if (final === '~' && first === '27' && third !== '') return keyOfCode(third, second, '')
  // `CSI 1 ; 2 R` is F3, but also where the cursor is; `CSI M` begins a mouse event.
  const name = final === '~' ? byNumber[first] : final === 'Z' ? 'tab' : final === 'M' ? undefined : byLetter[final]
  const { bits, isReleased } = modifiersOf(second)
  const isKey = name !== undefined && !isReleased && (final === '~' || /^1?$/.test(first))
  return isKey ? keyNamed(name, final === 'Z' || /^[a-d]$/.test(final) ? bits | shiftBit : bits) : undefined
}

/** The key of `ESC O` and a letter. */
export function keyOfApplication(parameters: string, final: string): TypedInput | undefined {
  const name = byLetter[final]
  return name === undefined ? undefined : keyNamed(name, modifiersOf(parameters).bits)
}

/** The key of a control character. */
export function keyOfControl(sign: string): TypedKey {
  switch (sign) {
    case '\r':
      return { name: 'return', sequence: sign }
    case '\n':
      return { name: 'enter', sequence: sign }
    case '\t':
      return { name: 'tab', sequence: sign }
    case '\b':
    case '\u007f':
      return { name: 'backspace', sequence: sign }
    default: {
      const code = sign.charCodeAt(0)
      const isLetter = code > 0 && code <= 26
      return isLetter
        ? { name: String.fromCharCode(code + 96), ctrl: true, sequence: sign }
        : { ctrl: true, sequence: sign }
    }
  }
}

function modifiersOf(text: string): { readonly bits: number; readonly isReleased: boolean } {
  const [mask = '', event] = text.split(':')
  return { bits: mask === '' ? 0 : Math.max(0, Number(mask) - 1), isReleased: event === released }
}

function keyOfCode(codes: string, modifiers: string, texts: string): TypedInput | undefined {
  const [plain = '', shifted = ''] = codes.split(':')
  const code = Number(plain)
  const { bits, isReleased } = modifiersOf(modifiers)
  if (plain === '' || isReleased) return undefined
  const name = byCode[code]
  if (name !== undefined) return keyNamed(name, bits)
  const keypadSign = keypadSigns[code - firstKeypadCode]
  const isPrivate = code >= firstPrivateCode && code <= lastPrivateCode
  if (!isCharacter(code) || (isPrivate && keypadSign === undefined)) return undefined
  const sign = keypadSign ?? String.fromCodePoint(code)
  const isText = (bits & (altBit | ctrlBit | otherBits)) === 0
  if (!isText) return keyNamed(sign.toLowerCase(), bits)
  const said = textOfCodes(texts) || textOfCodes(shifted)
  return { kind: 'text', text: said || ((bits & shiftBit) === 0 ? sign : sign.toUpperCase()) }
}

/** Characters by their codes, parted by colons; codes that are none are left out. */
function textOfCodes(codes: string): string {
  const known = codes.split(':').map(Number).filter(isCharacter)
  return String.fromCodePoint(...known)
}

function isCharacter(code: number): boolean {
  return code >= 32 && code !== 127 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff)
}

/** Letters that are keys with Ctrl, where the terminal sends no control character for them. */
const byCtrlLetter: Readonly<Record<string, string>> = {
  '[': 'escape',
  h: 'backspace',
  i: 'tab',
  j: 'enter',
  m: 'return',
}

function keyNamed(name: string, bits: number): TypedInput {
  const same = bits === ctrlBit ? byCtrlLetter[name] : undefined
  if (same !== undefined) return { kind: 'key', key: { name: same } }
  const key = {
    name,
    shift: (bits & shiftBit) !== 0,
    meta: (bits & (altBit | otherBits)) !== 0,
    ctrl: (bits & ctrlBit) !== 0,
  }
  return { kind: 'key', key }
}
