import { wild, withoutWild } from './glob.ts'

/** What a word of a shell body can be once it is unquoted and expanded. Unquoted wildcards are characters of `wild`. */
export interface WordReading {
  readonly values: readonly string[]
  /** A part of it is known only when it runs. In `values` that part is `wild.unknown`. */
  readonly hasUnknown: boolean
  /** There are more values than are looked at. */
  readonly isTooMuch: boolean
}

/** All that a variable can be; `undefined` when nothing is known of it. */
export type Variables = (
  name: string,
) => { readonly values: readonly string[]; readonly hasUnknown: boolean } | undefined

/** Most values that are looked at of one word. */
const maxValues = 64
/** Longest value: a body that doubles a variable again and again reads as unknown. */
const maxValueChars = 4_000

/** A word that means what it says. */
const plainWord = /^[\w\-./:,=@%+~^]*$/
/** Characters of a word that mean themselves. */
const plainRun = /[\w\-./:,=@%~^{} ]+/y

/** Unquotes and expands a word as bash does, with all values that its variables can have. */
export function readWord(raw: string, variables: Variables): WordReading {
  if (raw.length <= maxValueChars && plainWord.test(raw)) return { values: [raw], hasUnknown: false, isTooMuch: false }
  const { words, isTooMuch } = bracesExpanded(withoutWild(raw))
  const readings = words.map((word) => new WordReader(word, variables).read())
  const values = [...new Set(readings.flatMap((reading) => reading.values))]
  return {
    values: values.slice(0, maxValues),
    hasUnknown: readings.some((reading) => reading.hasUnknown),
    isTooMuch: isTooMuch || values.length > maxValues || readings.some((reading) => reading.isTooMuch),
  }
}

/** A value with its wildcards as plain characters, as an assignment keeps it. */
export function asWritten(value: string): string {
  return value.replace(/[\uE000-\uE003]/g, (character) => '*?[]'[character.charCodeAt(0) - 0xe000] as string)
}

function asPattern(value: string): string {
  return value.replace(/[*?[\]]/g, (character) => String.fromCharCode(0xe000 + '*?[]'.indexOf(character)))
}

class WordReader {
  readonly #raw: string
  readonly #variables: Variables
  #at = 0
  #values: string[] = ['']
  #hasUnknown = false
  #isTooMuch = false

  constructor(raw: string, variables: Variables) {
    this.#raw = raw
    this.#variables = variables
  }

  read(): WordReading {
    while (this.#at < this.#raw.length) this.#readPart()
    return { values: this.#values, hasUnknown: this.#hasUnknown, isTooMuch: this.#isTooMuch }
  }

  #readPart(): void {
    const raw = this.#raw
    const character = raw[this.#at] as string
    const next = raw[this.#at + 1]
    if (character === '\\') {
      if (next !== '\n') this.#add(next ?? '')
      this.#at += 2
    } else if (character === "'") this.#quoted(this.#at + 1)
    else if (character === '"') this.#doubleQuoted(this.#at + 1)
    else if (character === '$' && next === "'") this.#ansiQuoted(this.#at + 2)
    else if (character === '$' && next === '"') this.#doubleQuoted(this.#at + 2)
    else if (character === '$' || character === '`') this.#expansion(false)
    else if ('<>'.includes(character) && next === '(') this.#unknownUntil(closing(raw, this.#at + 1))
    else if ('?*+@!'.includes(character) && next === '(') {
      this.#add(wild.anything)
      this.#at = closing(raw, this.#at + 1)
    } else if (character === '[') this.#bracket()
    else if (character === '*' || character === '?') {
      this.#add(character === '*' ? wild.many : wild.one)
      this.#at++
    } else this.#run()
  }

  /** Adds the characters up to the next that means something else, or one that only looks so. */
  #run(): void {
    plainRun.lastIndex = this.#at
    const run = plainRun.exec(this.#raw)?.[0] ?? this.#raw.charAt(this.#at)
    this.#add(run)
    this.#at += run.length
  }

  #bracket(): void {
    const end = this.#raw.indexOf(']', this.#at + 2)
    const inside = end === -1 ? '' : this.#raw.slice(this.#at + 1, end)
    const isSet = end !== -1 && !inside.includes('/')
    if (isSet) this.#add(`${wild.open}${inside.replace(/["'\\]/g, '')}${wild.close}`)
    else this.#add('[')
    this.#at = isSet ? end + 1 : this.#at + 1
  }

  #quoted(from: number): void {
    const end = this.#raw.indexOf("'", from)
    this.#add(this.#raw.slice(from, end === -1 ? undefined : end))
    this.#at = end === -1 ? this.#raw.length : end + 1
  }

  #doubleQuoted(from: number): void {
    const raw = this.#raw
    this.#at = from
    while (this.#at < raw.length && raw[this.#at] !== '"') {
      const character = raw[this.#at] as string
      const next = raw[this.#at + 1] ?? ''
      if (character === '\\' && '$`"\\\n'.includes(next)) {
        if (next !== '\n') this.#add(next)
        this.#at += 2
      } else if (character === '$' || character === '`') this.#expansion(true)
      else this.#run()
    }
    this.#at++
  }

  #ansiQuoted(from: number): void {
    const end = /(?:[^'\\]|\\[\s\S])*/y
    end.lastIndex = from
    const text = end.exec(this.#raw)?.[0] ?? ''
    this.#add(withoutWild(text.replace(ansiEscape, unescaped)))
    this.#at = from + text.length + 1
  }

  #expansion(isQuoted: boolean): void {
    const raw = this.#raw
    if (raw[this.#at] === '`') {
      const end = /`(?:[^`\\]|\\[\s\S])*`?/y
      end.lastIndex = this.#at
      return this.#unknownUntil(this.#at + (end.exec(raw)?.[0].length ?? 1))
    }
    const name = /\$(?:(\w+)|\{(\w+)\})/y
    name.lastIndex = this.#at
    const found = name.exec(raw)
    if (found !== null) {
      this.#at += found[0].length
      // `$10` is `$1` and a 0.
      return this.#variable((found[1] ?? found[2]) as string, isQuoted)
    }
    const next = raw[this.#at + 1] ?? ''
    if ('({['.includes(next) && next !== '') this.#unknownUntil(closing(raw, this.#at + 1))
    else if ('@*#?$!-'.includes(next) && next !== '') this.#unknownUntil(this.#at + 2)
    else {
      this.#add('$')
      this.#at++
    }
  }

  #variable(name: string, isQuoted: boolean): void {
    const known = this.#variables(name)
    const values = (known?.values ?? []).map((value) => (isQuoted ? value : asPattern(value)))
    if (known === undefined || known.hasUnknown) {
      this.#hasUnknown = true
      values.push(wild.unknown)
    }
    this.#addOneOf(values)
  }

  #unknownUntil(end: number): void {
    this.#hasUnknown = true
    this.#add(wild.unknown)
    this.#at = Math.max(end, this.#at + 1)
  }

  #add(text: string): void {
    const [only, ...others] = this.#values
    if (only === undefined || others.length > 0 || only.length + text.length > maxValueChars) this.#addOneOf([text])
    else this.#values[0] = only + text
  }

  #addOneOf(texts: readonly string[]): void {
    const all = this.#values.flatMap((value) => texts.map((text) => value + text))
    this.#isTooMuch ||= all.length > maxValues || all.some((value) => value.length > maxValueChars)
    this.#values = all.slice(0, maxValues).map((value) => value.slice(0, maxValueChars))
  }
}

const ansiEscape = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c[\s\S]|([\s\S]))/g
const ansiLetters: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  e: '\x1B',
  E: '\x1B',
  f: '\f',
  v: '\v',
}

function unescaped(
  whole: string,
  hex?: string,
  short?: string,
  long?: string,
  octal?: string,
  letter?: string,
): string {
  const digits = hex ?? short ?? long
  const code =
    digits === undefined
      ? octal === undefined
        ? undefined
        : Number.parseInt(octal, 8) & 0xff
      : Number.parseInt(digits, 16)
  if (code !== undefined) return code <= 0x10ffff ? String.fromCodePoint(code) : ''
  if (letter === undefined) return ''
  return ansiLetters[letter] ?? (/["'\\?]/.test(letter) ? letter : whole)
}

/** Where a bracket that opens at an index is closed again: the index behind it. Quotes hide brackets. */
function closing(raw: string, open: number): number {
  const opener = raw[open] as string
  const closer = opener === '(' ? ')' : opener === '{' ? '}' : ']'
  let depth = 0
  for (let at = open; at < raw.length; at++) {
    const character = raw[at]
    if (character === '\\') at++
    else if (character === "'") {
      const end = raw.indexOf("'", at + 1)
      at = end === -1 ? raw.length : end
    } else if (character === opener) depth++
    else if (character === closer && --depth === 0) return at + 1
  }
  return raw.length
}

/** A word for each way of its braces: `{a,b}` and `{1..3}`. */
function bracesExpanded(raw: string): { readonly words: readonly string[]; readonly isTooMuch: boolean } {
  const words: string[] = []
  const open = [raw]
  // Each turn takes one pair of braces away.
  for (let turn = 0; turn < maxValues * 4; turn++) {
    const word = open.pop()
    if (word === undefined) return { words, isTooMuch: false }
    const braces = firstBraces(word)
    if (braces === undefined) words.push(word)
    else {
      const { from, to, choices } = braces
      open.push(...choices.map((choice) => word.slice(0, from) + choice + word.slice(to)))
    }
  }
  return { words, isTooMuch: true }
}

function firstBraces(word: string) {
  for (let at = word.indexOf('{'); at !== -1 && at < word.length; at++) {
    at = nextUnquoted(word, at, '{')
    if (at === -1) return undefined
    if (word[at - 1] === '$') {
      at = closing(word, at) - 1
      continue
    }
    const to = closing(word, at)
    const choices = word[to - 1] === '}' ? choicesIn(word.slice(at + 1, to - 1)) : []
    if (choices.length > 1) return { from: at, to, choices }
  }
  return undefined
}

/** The next place of a character outside of quotes, at or behind an index. */
function nextUnquoted(word: string, from: number, wanted: string): number {
  const token = /\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|[\s\S]/g
  for (const { 0: text, index } of word.matchAll(token)) if (index >= from && text === wanted) return index
  return -1
}

function choicesIn(inside: string): readonly string[] {
  const range = /^(\w)\.\.(\w)$/.exec(inside)
  if (range !== null) {
    const [low, high] = [range[1] as string, range[2] as string].map((end) => end.charCodeAt(0)).sort((a, b) => a - b)
    return Array.from({ length: (high as number) - (low as number) + 1 }, (_, step) =>
      String.fromCharCode((low as number) + step),
    )
  }
  // Too many to list: numbers are read as a pattern of digits, anything else as anything.
  if (/^-?\d+\.\.-?\d+(\.\.-?\d+)?$/.test(inside)) return ['[0-9]*', '-[0-9]*']
  if (/^-?\w+\.\.-?\w+(\.\.-?\d+)?$/.test(inside)) return ['', '@()']
  const choices: string[] = []
  let depth = 0
  let from = 0
  const token = /\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|[\s\S]/g
  for (const { 0: text, index } of inside.matchAll(token)) {
    if (text === '{') depth++
    else if (text === '}') depth--
    else if (text === ',' && depth === 0) {
      choices.push(inside.slice(from, index))
      from = index + 1
    }
  }
  return [...choices, inside.slice(from)]
}

/** Parts of a value that can be paths: behind `=` and `:`, `@`, `file://` and a flag of one letter. */
export function piecesOf(value: string): readonly string[] {
  const pieces = new Set([value])
  for (let at = value.indexOf('='); at !== -1 && pieces.size < 16; at = value.indexOf('=', at + 1))
    pieces.add(value.slice(at + 1))
  for (const piece of Array.from(pieces)) {
    if (piece.startsWith('@')) pieces.add(piece.slice(1))
    if (/^-[A-Za-z][~./]/.test(piece)) pieces.add(piece.slice(2))
    const url = /file:\/\/(?:localhost)?(.*)$/is.exec(piece)
    if (url !== null) pieces.add(decoded(url[1] as string))
    else if (!piece.includes('://')) for (const part of piece.split(':').slice(0, 16)) pieces.add(part)
  }
  pieces.delete('')
  return [...pieces]
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}

export function baseName(value: string): string {
  return value.slice(value.lastIndexOf('/') + 1)
}
