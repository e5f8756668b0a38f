import { isPattern, wild, withoutWild } from './glob.ts'
import { type Expanded, expandParameter, type VariableLookup } from './parameter-expansion.ts'

/** What a word of a shell body can be once it is unquoted and expanded. Unquoted wildcards are characters of `wild`. */
export interface WordReading extends Expanded {
  /** There are more values than are looked at. */
  readonly isTooMuch: boolean
}

/** What the shell knows where a word stands. */
export interface ShellKnowledge {
  /** All that a variable can be; `undefined` when nothing is known of it. */
  readonly variable: VariableLookup
  /** What the commands of a substitution print, where that can be read. */
  readonly substitution: (commands: string) => Expanded | undefined
  /** Characters at which an unquoted expansion is split, besides blanks. */
  readonly separators: string
}

/** Most values that are looked at of one word. */
const maxValues = 64
/** Longest value: a body that doubles a variable again and again reads as unknown. */
const maxValueChars = 4_000

/** A word that means what it says. */
const plainWord = /^[\w\-./:,=@%+~^]*$/
/** Characters of a word that mean themselves. */
const plainRun = /(?:[\w\-./:,=%~^{} ]|@(?!\())+/y

/** Unquotes and expands a word as bash does, with all values that its variables can have. */
export function readWord(raw: string, knowledge: ShellKnowledge): WordReading {
  if (raw.length <= maxValueChars && plainWord.test(raw)) return { values: [raw], hasUnknown: false, isTooMuch: false }
  const { words, isTooMuch } = bracesExpanded(withoutWild(raw))
  const readings = words.map((word) => new WordReader(word, knowledge).read())
  const values = [...new Set(readings.flatMap((reading) => reading.values))]
  return {
    values: values.slice(0, maxValues),
    hasUnknown: readings.some((reading) => reading.hasUnknown),
    isTooMuch: isTooMuch || values.length > maxValues || readings.some((reading) => reading.isTooMuch),
  }
}

/** A value with its wildcards as plain characters, as an assignment keeps it. */
export function asWritten(value: string): string {
  return value
    .replaceAll(wild.blank, ' ')
    .replace(/[\uE000-\uE003]/g, (character) => '*?[]'[character.charCodeAt(0) - 0xe000] as string)
}

/** The words that a value is split into. */
export function fieldsOf(value: string): readonly string[] {
  return value.includes(wild.blank) ? value.split(wild.blank).filter((field) => field !== '') : [value]
}

/** The value of a variable as an unquoted expansion: wildcards count, and blanks part words. */
function asPattern(value: string, separators: string): string {
  let text = ''
  for (let at = 0; at < value.length; at++) {
    const character = value[at] as string
    const end = character === '[' ? endOfSet(value, at) : -1
    if (end !== -1) {
      text += `${wild.open}${value.slice(at + 1, end)}${wild.close}`
      at = end
    } else if (character === '*' || character === '?') text += character === '*' ? wild.many : wild.one
    else text += /\s/.test(character) || separators.includes(character) ? wild.blank : character
  }
  return text
}

/** The index of the bracket that closes a set of characters; -1: it is none. */
function endOfSet(raw: string, open: number): number {
  let at = open + 1
  if (raw[at] === '!' || raw[at] === '^') at++
  if (raw[at] === ']') at++
  for (; at < raw.length && raw[at] !== '/'; at++) {
    const kind = raw[at] === '[' ? raw[at + 1] : undefined
    if (raw[at] === ']') return at
    if (raw[at] === '\\') at++
    else if (kind === ':' || kind === '.' || kind === '=') {
      const end = raw.indexOf(`${kind}]`, at + 2)
      if (end !== -1) at = end + 1
    }
  }
  return -1
}

class WordReader {
  readonly #raw: string
  readonly #knowledge: ShellKnowledge
  #at = 0
  #values: string[] = ['']
  #hasUnknown = false
  #isTooMuch = false

  constructor(raw: string, knowledge: ShellKnowledge) {
    this.#raw = raw
    this.#knowledge = knowledge
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
    const end = endOfSet(this.#raw, this.#at)
    const inside = end === -1 ? '' : this.#raw.slice(this.#at + 1, end)
    const isSet = end !== -1
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
      const text = end.exec(raw)?.[0] ?? '`'
      this.#at += text.length
      return this.#substitution(text.replace(/^`|`$/g, '').replace(/\\([$`\\])/g, '$1'), isQuoted)
    }
    const name = /\$(?:(\d|[A-Za-z_]\w*|[@*])|\{(\w+)\})/y
    name.lastIndex = this.#at
    const found = name.exec(raw)
    if (found !== null) {
      this.#at += found[0].length
      // `$10` is `$1` and a 0.
      return this.#addExpanded(this.#knowledge.variable((found[1] ?? found[2]) as string), isQuoted)
    }
    const next = raw[this.#at + 1] ?? ''
    const end = '({['.includes(next) && next !== '' ? closing(raw, this.#at + 1) : -1
    if (end !== -1 && (next === '[' || raw.startsWith('$((', this.#at))) this.#unknownUntil(end)
    else if (end !== -1) {
      const inside = raw.slice(this.#at + 2, raw[end - 1] === (next === '(' ? ')' : '}') ? end - 1 : end)
      this.#at = end
      if (next === '(') this.#substitution(inside, isQuoted)
      else this.#addExpanded(this.#parameter(inside), isQuoted)
    } else if ('#?$!-'.includes(next) && next !== '') this.#unknownUntil(this.#at + 2)
    else {
      this.#add('$')
      this.#at++
    }
  }

  #parameter(inside: string): Expanded {
    const read = (raw: string): Expanded => {
      const { values, hasUnknown, isTooMuch } = readWord(raw.replace(/^~(?=\/|$)/, '$HOME'), this.#knowledge)
      return { values, hasUnknown: hasUnknown || isTooMuch }
    }
    const { values, hasUnknown } = expandParameter(inside, this.#knowledge.variable, read)
    return { values: values.map(asWritten), hasUnknown }
  }

  #substitution(commands: string, isQuoted: boolean): void {
    this.#addExpanded(this.#knowledge.substitution(commands), isQuoted)
  }

  #addExpanded(known: Expanded | undefined, isQuoted: boolean): void {
    const { separators } = this.#knowledge
    const values = (known?.values ?? []).map((value) => (isQuoted ? value : asPattern(value, separators)))
    if (known?.mayBeUnset === true && !known.hasUnknown) values.push(wild.unknown)
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

/** A text as `echo -e` and `printf` write it. */
export function unescapedText(text: string): string {
  return text.replace(ansiEscape, unescaped)
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
    } else if (character === '"') at = endOfQuote(raw, at)
    else if (character === opener) depth++
    else if (character === closer && --depth === 0) return at + 1
  }
  return raw.length
}

/** The index of the double quote that closes one. */
function endOfQuote(raw: string, open: number): number {
  for (let at = open + 1; at < raw.length; at++) {
    if (raw[at] === '\\') at++
    else if (raw[at] === '"') return at
    else if (raw[at] === '$' && (raw[at + 1] === '(' || raw[at + 1] === '{')) at = closing(raw, at + 1) - 1
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

export function baseName(value: string): string {
  return value.slice(value.lastIndexOf('/') + 1)
}

/** Names that a word can have as a command. */
export function namesOf({ values }: WordReading): readonly string[] {
  return values.filter((value) => !isPattern(value)).map(baseName)
}
