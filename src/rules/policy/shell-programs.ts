import { wild } from './glob.ts'
import { asWritten, namesOf, type WordReading } from './shell-word.ts'

/** Commands that run the command that follows. */
export const wrappers = new Set(
  'sudo doas env command builtin exec nohup time nice ionice timeout xargs stdbuf setsid chroot busybox coproc'.split(
    ' ',
  ),
)
/** Commands that run a command somewhere among their words. */
const runners = new Set(
  'parallel watch flock script su find fd entr strace unshare taskset chronic systemd-run ssh'.split(' '),
)
const shells = /^(?:ba|z|da|k|a|c|tc|fi|mk|r?ba)?sh(?:\.exe)?$/
/** Programs that run a program that is given to them as a text. */
export const interpreters =
  /^(?:(?:ba|z|da|k|a|c|tc|fi)?sh|python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|source|\.)$/

/** A text that a command has a shell run. */
export interface HandedBody {
  readonly texts: readonly string[]
  /** Parts of it are known only when it runs. */
  readonly hasUnknown: boolean
  /** What `$1` and so on are in it. */
  readonly positionals: readonly WordReading[]
  /** It runs in a shell of its own. */
  readonly isApart: boolean
}

export interface HandedPrograms {
  readonly bodies: readonly HandedBody[]
  /** It runs what it reads. */
  readonly runsInput: boolean
  /** The text that it runs is what another command prints, by its place among the words. */
  readonly runsOutputAt: number | undefined
}

/** What the words of a command have a shell run, wherever among them a shell is named. */
export function handedPrograms(words: readonly WordReading[]): HandedPrograms {
  const bodies: HandedBody[] = []
  let runsInput = false
  let runsOutputAt: number | undefined
  const isCommandAt = (at: number): boolean =>
    at === 0 || words.slice(0, at).some((word) => namesOf(word).some(isWrapper))
  words.forEach((word, at) => {
    const names = namesOf(word)
    const rest = words.slice(at + 1)
    if (names.some((name) => shells.test(name))) {
      const { body, operand, operandAt } = shellArguments(rest)
      if (body !== undefined) bodies.push({ ...joined([body]), positionals: rest.slice(operandAt + 2), isApart: true })
      else if (!isCommandAt(at)) return
      else if (operand === undefined || operand.values.some((value) => inputs.test(value))) runsInput = true
      else runsOutputAt ??= at + 1 + operandAt
    }
    if (!isCommandAt(at)) return
    if (names.some((name) => name === 'source' || name === '.')) {
      if (rest[0]?.values.some((value) => inputs.test(value))) runsInput = true
      else runsOutputAt ??= at + 1
    } else if (names.includes('eval')) bodies.push({ ...joined(rest), positionals: [], isApart: false })
    else if (names.includes('trap')) {
      const first = rest.find(({ values }) => !values.every((value) => value === '--'))
      if (first !== undefined) bodies.push({ ...joined([first]), positionals: [], isApart: false })
    } else if (names.includes('alias')) {
      const values = rest.map((one) => ({ ...one, values: one.values.map((value) => value.replace(/^[^=]*=/, '')) }))
      for (const value of values) bodies.push({ ...joined([value]), positionals: [], isApart: false })
    } else if (names.includes('env')) {
      const split = rest.findIndex(({ values }) => values.some((value) => /^(?:-\w*S|--split-string)/.test(value)))
      if (split === -1) return
      const first = rest[split] as WordReading
      const texts = first.values.map((value) => value.replace(/^(?:-\w*S|--split-string=?)/, ''))
      bodies.push({
        ...joined([{ ...first, values: texts }, ...rest.slice(split + 1)]),
        positionals: [],
        isApart: true,
      })
    }
  })
  return { bodies, runsInput, runsOutputAt }
}

const inputs = /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/
/** Options of shells that take a value. */
const valued = /^(?:[-+]\w*[oO]|--(?:rcfile|init-file))$/

function shellArguments(words: readonly WordReading[]) {
  let takesBody = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as WordReading
    const option = word.values.find((value) => /^[-+]./.test(value))
    if (option === undefined || (word.values.some((value) => inputs.test(value)) && !takesBody)) {
      return takesBody ? { body: word, operandAt: at } : { operand: word, operandAt: at }
    }
    if (/^-[a-zA-Z]*c/.test(option)) takesBody = true
    if (/^-[a-zA-Z]*s/.test(option) && !takesBody) return { operandAt: at }
    if (valued.test(option)) at++
  }
  return { operandAt: words.length }
}

function isWrapper(name: string): boolean {
  return wrappers.has(name) || runners.has(name)
}

/** Most ways in which the words of a body are put together. */
const maxTexts = 16

/** Words put together with blanks, as `eval` does. What is not known in them stands there as a variable. */
export function joined(words: readonly WordReading[]): Pick<HandedBody, 'texts' | 'hasUnknown'> {
  let texts: string[] = ['']
  let isTooMuch = false
  for (const [at, { values }] of words.entries()) {
    const all = texts.flatMap((text) => values.map((value) => (at === 0 ? value : `${text} ${value}`)))
    isTooMuch ||= all.length > maxTexts
    texts = all.slice(0, maxTexts)
  }
  const isUnknown = words.some((word) => word.hasUnknown || word.isTooMuch)
  return {
    texts: texts.map((text) => asWritten(text.replaceAll(wild.unknown, '$?'))),
    hasUnknown: isUnknown || isTooMuch,
  }
}

/** Programs that run what they read where no operand names a file or a program. */
export function takesProgram(name: string, words: readonly WordReading[]): boolean {
  if (!/^(?:python[\d.]*|node|nodejs|perl|ruby|php|lua|deno|bun)$/.test(name)) return false
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
