import { wild } from './glob.ts'
import { absolute, type Base } from './paths.ts'
import type { Expanded } from './parameter-expansion.ts'
import type { ShellWord } from './shell-reading.ts'
import type { ShellVariables } from './shell-variables.ts'
import { asWritten, fieldsOf, readWord, type WordReading } from './shell-word.ts'

/** Commands that name a folder without reading what lies below it. */
const looksAtFolderAlone = new Set(['cd', 'ls', 'pwd', 'echo', 'stat', 'du', 'mkdir', 'test'])
/** Most paths of a word. */
const maxPaths = 256

/** Where a word stands. */
interface Standing {
  /** The command that it is an operand of. */
  readonly command?: string | undefined
  readonly isWritten: boolean
  /** Folders that the body may stand in, and all that it has stood in. */
  readonly bases: readonly string[]
  readonly allBases: readonly string[]
  readonly isGuess: boolean
}

/** The words of a shell body, with the paths that they can be. */
export class ShellWords {
  readonly functions = new Set<string>()
  /** Texts of programs, and what is not known before it runs. */
  readonly texts = new Set<string>()
  /** Programs of other languages. */
  readonly programs = new Set<string>()
  readonly #base: Base
  readonly #variables: ShellVariables
  readonly #words = new Map<string, ShellWord>()
  /** A shell option has patterns match hidden names, or names in any case. */
  #matchesHidden = false
  #ignoresCase = false

  constructor(base: Base, variables: ShellVariables) {
    this.#base = base
    this.#variables = variables
  }

  get all(): readonly ShellWord[] {
    return [...this.#words.values()]
  }

  /** Heeds the options of a shell that a body sets anywhere. */
  noteOptions(body: string): void {
    this.#matchesHidden ||= /dotglob|GLOBIGNORE|glob_?dots/i.test(body)
    this.#ignoresCase ||= /nocase/i.test(body)
  }

  /** @param printed what the commands of a substitution print */
  read(
    raw: string,
    { allBases, bases }: Pick<Standing, 'allBases' | 'bases'>,
    printed: (commands: string) => Expanded | undefined,
  ): WordReading {
    const { home } = this.#base
    const user = home.slice(home.lastIndexOf('/') + 1)
    const usual: Readonly<Record<string, readonly string[]>> = {
      HOME: [home],
      PWD: bases,
      OLDPWD: allBases,
      USER: [user],
      LOGNAME: [user],
      IFS: [' '],
    }
    const variable = (name: string): Expanded | undefined => {
      const known = this.#variables.get(name)
      const more = Object.hasOwn(usual, name) ? (usual[name] ?? []) : []
      if (known === undefined) return more.length === 0 ? undefined : { values: more, hasUnknown: false }
      return { ...known, values: [...new Set([...more, ...known.values])] }
    }
    const separators = this.#variables.get('IFS')?.values.join('') ?? ''
    return readWord(raw, { variable, substitution: printed, separators })
  }

  /** Keeps a word with its paths. @returns `false`: it can be more than is looked at */
  note(text: string, reading: WordReading, standing: Standing): boolean {
    const { command, isGuess, isWritten } = standing
    const meansAllBelow = command !== undefined && (!looksAtFolderAlone.has(command) || this.functions.has(command))
    const paths = new Set<string>()
    for (const value of reading.values)
      for (const field of fieldsOf(this.#asMatched(value)))
        for (const piece of piecesOf(field))
          for (const path of this.pathsOf(piece, standing)) if (paths.size < maxPaths) paths.add(path)
    const key = `${isGuess} ${text}`
    const known = this.#words.get(key)
    this.#words.set(key, {
      text,
      paths: [...new Set([...(known?.paths ?? []), ...paths])],
      meansAllBelow: meansAllBelow || known?.meansAllBelow === true,
      ...((isWritten || known?.isWritten === true) && { isWritten: true }),
      ...(isGuess && { isGuess }),
    })
    const isProgram = reading.values.some((value) => /[\s()"'`]/.test(value))
    if (isProgram || reading.hasUnknown || /^~[^/]/.test(text)) {
      this.texts.add(text)
      for (const value of reading.values) this.texts.add(asWritten(value)).add(condensed(asWritten(value)))
    }
    return !reading.isTooMuch && paths.size < maxPaths
  }

  #asMatched(value: string): string {
    const hidden = this.#matchesHidden ? value.replace(patterns, wild.anything) : value
    return this.#ignoresCase ? hidden.toLowerCase() : hidden
  }

  /** The paths that a piece of a word can be; none for what is wholly unknown, unless the body has gone elsewhere. */
  pathsOf(piece: string, { allBases, bases }: Pick<Standing, 'allBases' | 'bases'>): readonly string[] {
    const [, from, rest = ''] = /^~([+-])\d*(?=\/|$)(.*)$/s.exec(piece) ?? []
    if (from !== undefined) return (from === '+' ? bases : allBases).map((base) => base + rest)
    const isUnknown = piece.startsWith(wild.unknown)
    return bases.flatMap((base) => {
      if (!isUnknown || base !== this.#base.cwd) return [this.#from(piece, base)]
      return /^\uE005+$/.test(piece) ? [] : [`/${piece}`]
    })
  }

  #from(path: string, cwd: string): string {
    const user = /^~(\w[\w.-]*)(.*)$/s.exec(path)
    const isOwn = user !== null && this.#base.home.endsWith(`/${user[1]}`)
    return absolute(isOwn ? `~${user[2]}` : path, { ...this.#base, cwd })
  }
}

/** A pattern, or a set of characters in one. */
const patterns = new RegExp(`[${wild.many}${wild.one}]|${wild.open}[^${wild.close}]*${wild.close}`, 'g')

/** A program with texts that it puts together as one. */
function condensed(program: string): string {
  return program.replace(/(["'`])\s*(?:\+|\.|\.\.)?\s*(["'`])/g, '')
}

/** Parts of a value that can be paths: behind `=` and `:`, `@`, `file://` and a flag of one letter. */
function piecesOf(value: string): readonly string[] {
  const pieces = new Set([value])
  for (let at = value.indexOf('='); at !== -1 && pieces.size < 16; at = value.indexOf('=', at + 1))
    pieces.add(value.slice(at + 1))
  for (const piece of Array.from(pieces)) {
    if (piece.startsWith('@')) pieces.add(piece.slice(1))
    if (/^-[A-Za-z][~./]/.test(piece)) pieces.add(piece.slice(2))
    const url = /file:\/\/(?:localhost)?(.*)$/is.exec(piece)
    if (url !== null) pieces.add(decoded(url[1] as string))
    else if (!piece.includes('://')) for (const part of piece.split(/:|,(?=.*\/)/).slice(0, 16)) pieces.add(part)
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
