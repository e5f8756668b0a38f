import { isHidden, isOfOtherLanguage } from './other-programs.ts'
import { isPattern, wild } from './glob.ts'
import { type ScheduledProgram, scheduledProgram } from './scheduled-programs.ts'
import { asWritten, namesOf, type WordReading } from './shell-word.ts'

/** Commands that run the command that follows. */
export const wrappers = new Set(
  'sudo doas env command builtin exec nohup time nice ionice timeout xargs stdbuf setsid chroot busybox coproc'.split(
    ' ',
  ),
)
/** Commands that run a command somewhere among their words. */
const runners = new Set(
  (
    'parallel watch flock script su find fd entr strace ltrace valgrind unshare taskset chronic systemd-run ssh ssh-agent runuser ' +
    'pkexec fakeroot xvfb-run dbus-run-session firejail bwrap chrt numactl prlimit setarch unbuffer'
  ).split(' '),
)
/** Those that have a shell run what they read. */
const handsInputOn = new Set(['ssh', 'su', 'newgrp', 'sg', 'sftp', 'ftp', 'make', 'gmake'])
const shells = /^(?:ba|z|da|k|a|c|tc|fi|mk|r?ba)?sh(?:\.exe)?$/
/** Programs that run a program that is given to them as a text. */
const interpreters = /^(?:(?:ba|z|da|k|a|c|tc|fi)?sh|python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|source|\.)$/

/** Commands that may make a program of what they are given. */
const decoders =
  /^(?:base64|base32|basenc|xxd|od|openssl|uudecode|gunzip|zcat|gzip|bunzip2|bzip2|bzcat|xz|unxz|xzcat|zstd|lz4|rev|tr|printf)$/
/** Those that decode, and do nothing else that a body does every day. */
const onlyDecoders = /^(?:base64|base32|basenc|xxd|openssl|uudecode|rev)$/

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
  /** It may have another program run what it reads, as `ssh` and `docker exec -i x sh` do. */
  readonly mayRunInput: boolean
  /** Files that it may run; what they hold is known where the body itself writes them. */
  readonly files: readonly RunFile[]
  /** What it leaves to run later. */
  readonly scheduled?: ScheduledProgram | undefined
}

/** A file that a command runs, or what another command prints in its place. */
export interface RunFile {
  /** Its place among the words. */
  readonly at: number
  /** The interpreter of another language than the shell's that runs it. */
  readonly name?: string
}

/** Is it not known what a command runs? @param text of the command */
export function hidesWhatItRuns(words: readonly WordReading[], text: string): boolean {
  const names = namesRun(words)
  const run = words.findIndex(
    ({ values }, at) => at > 0 && values.some((value) => !/^(-|\w+=|\d)/.test(value.replaceAll(wild.unknown, ''))),
  )
  const named = isWrapped(words) ? [words[0], words[run]] : [words[0]]
  if (named.some((word) => word?.hasUnknown === true || word?.values.some(isOdd)) || names.includes('eval')) return true
  if (!names.some((one) => interpreters.test(one))) return false
  const program = words.findIndex(({ values }) => values.some((value) => /^-\w*[ce]$/.test(value)))
  const isSourced = names.includes('source') || names.includes('.')
  return (
    (program !== -1 && words[program + 1]?.hasUnknown === true) ||
    words.some(({ values }) => values.some(isHidden)) ||
    (isSourced && text.includes('<('))
  )
}

/** The names of all that a command may run: its own, or behind a wrapper any of its words. */
export function namesRun(words: readonly WordReading[]): readonly string[] {
  return (isWrapped(words) ? words : words.slice(0, 1)).flatMap(namesOf)
}

function isWrapped([first]: readonly WordReading[]): boolean {
  return first !== undefined && wrappers.has(namesOf(first)[0] ?? '')
}

/** Is a name of a command a pattern? One that may be unset is none. */
function isOdd(value: string): boolean {
  return isPattern(value) && value !== wild.unknown
}

/** What the words of a command have a shell run, wherever among them a shell is named. */
export function handedPrograms(words: readonly WordReading[]): HandedPrograms {
  const bodies: HandedBody[] = []
  let runsInput = false
  let mayRunInput = false
  const files: RunFile[] = []
  let scheduled: ScheduledProgram | undefined
  const isCommandAt = (at: number): boolean =>
    at === 0 || words.slice(0, at).some((word) => namesOf(word).some(isWrapper))
  words.forEach((word, at) => {
    const names = namesOf(word)
    const rest = words.slice(at + 1)
    if (names.some((name) => shells.test(name))) {
      const { body, operand, operandAt } = shellArguments(rest)
      if (body !== undefined) bodies.push({ ...joined([body]), positionals: rest.slice(operandAt + 2), isApart: true })
      else if (!isCommandAt(at)) mayRunInput = true
      else if (operand === undefined || operand.values.some((value) => inputs.test(value))) runsInput = true
      else files.push({ at: at + 1 + operandAt })
    }
    if (!isCommandAt(at)) return
    if (isFirst(words.slice(0, at))) files.push({ at })
    files.push(...operandRun(names, rest).map((file) => ({ ...file, at: at + 1 + file.at })))
    scheduled ??= scheduledProgram(names, rest, at)
    runsInput ||= names.includes('parallel') && takesNoCommand(rest)
    mayRunInput ||= names.some((name) => handsInputOn.has(name))
    if (names.some((name) => name === 'source' || name === '.')) {
      if (rest[0]?.values.some((value) => inputs.test(value))) runsInput = true
      else files.push({ at: at + 1 })
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
  return { bodies, runsInput, mayRunInput, files, scheduled }
}

/** The operand that an interpreter of another language, or `make`, runs. */
function operandRun(names: readonly string[], operands: readonly WordReading[]): readonly RunFile[] {
  const name = names.find(isOfOtherLanguage)
  const first = operands.findIndex(({ values }) => !values.some((value) => value.startsWith('-')))
  if (name !== undefined) return first === -1 ? [] : [{ at: first, name }]
  if (!names.some((one) => /^g?make$/.test(one))) return []
  const option = operands.findIndex(({ values }) => values.some((value) => /^(?:-f|--file|--makefile)$/.test(value)))
  return option === -1 ? [] : [{ at: option + 1 }]
}

const inputs = /^(?:-|\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/self\/fd\/\d+)$/
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

/** Are words before a command wrappers alone, with their options? */
function isFirst(before: readonly WordReading[]): boolean {
  return before.every((word, at) => {
    const isSetting = word.values.some((value) => /^(?:\d|\w+=)/.test(value))
    return isSetting || isOption(word) || isOption(before[at - 1]) || namesOf(word).some(isWrapper)
  })
}

function isOption(word: WordReading | undefined): boolean {
  return word?.values.some((value) => value.startsWith('-')) ?? false
}

function isWrapper(name: string): boolean {
  return wrappers.has(name) || runners.has(name)
}

/** Does `parallel` run what it reads? */
function takesNoCommand(words: readonly WordReading[]): boolean {
  return words.every(({ values }) => values.every((value) => /^(?:-|\+|\d)/.test(value)))
}

const fillers = new Set(['xargs', 'parallel', 'find', 'fd', 'fdfind'])

/** The words of a command such as `xargs`, with what it finds or reads in the place of `{}` or of the mark that it is given. */
export function filledWords(words: readonly WordReading[]): readonly WordReading[] {
  const at = words.findIndex((word) => namesOf(word).some((name) => fillers.has(name)))
  if (at === -1) return words
  const mark = namesOf(words[at] as WordReading).includes('xargs') ? markOf(words.slice(at + 1)) : '{}'
  if (mark === undefined) return words
  const isFilled = (index: number): boolean => index > at
  return words.map((word, index) => {
    if (!isFilled(index) || !word.values.some((value) => value.includes(mark))) return word
    return { ...word, values: word.values.map((value) => value.replaceAll(mark, wild.unknown)) }
  })
}

/** The mark of `xargs -I MARK` and its like. */
function markOf(words: readonly WordReading[]): string | undefined {
  for (const [at, { values }] of words.entries()) {
    const [, given, short, long] =
      values.map((value) => /^(?:-\w*I(.*)|(-i.*)|--replace=?(.*))$/s.exec(value)).find(Boolean) ?? []
    if (given !== undefined) return given === '' ? words[at + 1]?.values[0] : given
    if (short !== undefined || long !== undefined) return (long ?? short?.slice(2)) || '{}'
  }
  return undefined
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

/** Does a part of a pipe take as a program, or as names, what commands before it decode? @param text of the whole pipe */
export function takesDecoded(before: readonly string[], names: readonly string[], text: string): boolean {
  const isFed = names.some((name) => interpreters.test(name))
  const isEchoed = before.includes('echo') && /echo\s+-\w*e/.test(text)
  const isDecoded = [...before, ...names].some((name) => onlyDecoders.test(name))
  return (isFed && (isEchoed || before.some((name) => decoders.test(name)))) || (isDecoded && names.includes('xargs'))
}
