import { namesHome } from './named-paths.ts'
import { namesOf, type WordReading } from './shell-word.ts'

/** Programs that run a program of a language of their own, among their words or in what they read. */
const languages = /^(?:python[\d.]*|pypy\d?|node|nodejs|deno|bun|perl[\d.]*|ruby|php|lua[\d.]*|[gmn]?awk|g?sed)$/
const sedNames = /^g?sed$/
const awkNames = /awk$/

/** A text that a command has an interpreter of another language than the shell's run. */
export interface OtherProgram {
  readonly text: string
  /** Lines of a shell among what it says, where it runs commands or opens what a pattern matches. */
  readonly lines: string
  /** It runs a command that is known only when it runs. */
  readonly runsUnknown: boolean
}

/** Does a name belong to an interpreter of another language? */
export function isOfOtherLanguage(name: string): boolean {
  return languages.test(name)
}

/** The interpreter that the first line of a script names, where it is one of another language. */
export function languageOf(script: string): string | undefined {
  const [, line = ''] = /^#!(.*)/.exec(script) ?? []
  return line
    .split(/\s+/)
    .map((word) => word.slice(word.lastIndexOf('/') + 1))
    .find(isOfOtherLanguage)
}

/** The programs among the words of a command, behind the name of an interpreter. */
export function otherPrograms(words: readonly WordReading[]): readonly OtherProgram[] {
  return words.flatMap((word, at) => {
    const name = namesOf(word).find(isOfOtherLanguage)
    if (name === undefined) return []
    const texts = new Set(words.slice(at + 1).flatMap(({ values }) => values))
    return [...texts].filter((text) => isProgram(name, text)).map((text) => otherProgram(name, text))
  })
}

function isProgram(name: string, text: string): boolean {
  return /["'`(\s]/.test(text) || (sedNames.test(name) && !text.startsWith('-'))
}

/** Reads a text as a program of the interpreter with this name. */
export function otherProgram(name: string, text: string): OtherProgram {
  if (sedNames.test(name)) return sedProgram(text)
  const lines = runsOrMatches.test(text) ? linesIn(text) : ''
  return { text, lines, runsUnknown: awkNames.test(name) && awkRunsUnknown.some((one) => one.test(text)) }
}

const runsOrMatches =
  /system|popen|exec|spawn|subprocess|check_output|\brun\b|command|glob|getline|\|\s*"|`|\bqx\b|%x|\bDir\b|<[~/.]|Open3/i
/** Longest program that lines of a shell are looked for in, and most of them. */
const maxProgramChars = 16_384
const maxLines = 200

/** Texts between quotes and brackets that have a slash in them. */
function linesIn(program: string): string {
  const pieces = program.slice(0, maxProgramChars).match(/[^"'`(){}<>;,\n]+/g) ?? []
  const asksForHome = namesHome(program)
  return pieces
    .map((piece) => piece.trim())
    .filter(isLine)
    .slice(0, maxLines)
    .flatMap((line) => (asksForHome ? [line, `~/${line}`] : [line]))
    .join('\n')
}

function isLine(piece: string): boolean {
  return /[/~]/.test(piece) && /[\s*?[]/.test(piece) && /\w/.test(piece)
}

const awkRunsUnknown = [
  /\bsystem\s*\((?!\s*"(?:[^"\\]|\\.)*"\s*\))/,
  /[^"\s|]\s*\|&?\s*getline/,
  /\bprintf?\b[^;|}\n]*\|&?\s*(?:[A-Za-z$(]|"(?:[^"]*[/\s])?(?:ba|da|z|k)?sh\b)/,
]

/** `r FILE`, `w FILE`, `e COMMAND` and `s/…/…/e`, which runs what it makes. */
function sedProgram(text: string): OtherProgram {
  const at = String.raw`(?:^|[;{}\n\d$/!|#,])\s*`
  const files = [...text.matchAll(new RegExp(String.raw`${at}[rRwW]\s*([^\s;}]+)`, 'g'))].map(([, file = '']) => file)
  const commands = [...text.matchAll(new RegExp(String.raw`${at}e[^\S\n]+([^\n]+)`, 'g'))]
  const isAlone = new RegExp(String.raw`(?:^|[;{}\n\d$!])\s*e\s*(?:$|[;}\n])`).test(text)
  const isReplaced = /(?:^|[;{}\n\d$/!]\s*)s([^\w\s])(?:(?!\1)[^\\]|\\.)*\1(?:(?!\1)[^\\]|\\.)*\1[gpimIM\d]*e/s.test(
    text,
  )
  return {
    // As arguments, which count without a slash, too.
    text: files.map((file) => `("${file}")`).join(''),
    lines: commands.map(([, command = '']) => command).join('\n'),
    runsUnknown: isAlone || isReplaced,
  }
}

/** Programs that run what they read where no operand names a file or a program. */
export function takesProgram(name: string, words: readonly WordReading[]): boolean {
  if (!isOfOtherLanguage(name) || sedNames.test(name) || awkNames.test(name)) return false
  return words.slice(1).every(({ values }) => values.every((value) => value === '-' || /^-[uBsSIqvi]+$/.test(value)))
}

/**
 * Does the text of a program hide what it opens: it reaches files or programs, and decodes or counts out texts? Others are
 * searched for names.
 */
export function isHidden(program: string): boolean {
  return reaches.test(program) && decodes.test(program)
}

const reaches =
  /\b(?:open|popen|readfile\w*|read_(?:text|bytes)|createreadstream|file_get_contents|subprocess|system|exec\w*|spawn\w*|child_process|eval|__import__|glob|path|io|file|fs|fetch|urlopen|socket)\b/i
const decodes =
  /\bchr\b|fromcharcode|fromcodepoint|\batob\b|b(?:ase)?(?:16|32|64)|unhexlify|fromhex|'hex'|"hex"|\\x[\da-f]{2}|\\u00[\da-f]{2}|\\[01]\d\d|\[::-1\]|rot_?13|\bpack\b|\breversed?\b/i
