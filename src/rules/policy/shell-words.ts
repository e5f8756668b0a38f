import { wild } from './glob.ts'
import { absolute, type Base } from './paths.ts'
import { processPlaces } from './process-paths.ts'
import type { Expanded } from './parameter-expansion.ts'
import { isBrief } from './recursion.ts'
import type { ShellWord } from './shell-reading.ts'
import type { ShellVariables } from './shell-variables.ts'
import { asWritten, fieldsOf, readWord, type WordReading } from './shell-word.ts'

/** Commands that name a folder without reading what lies below it. */
const looksAtFolderAlone = new Set('cd pushd popd dirs ls pwd echo stat mkdir test'.split(' '))
/** Most paths of a word. */
const maxPaths = 256
/** Most folders that `~` is taken for. */
const maxHomes = 16

/** Where a word stands. */
interface Standing {
  /** @default false */
  readonly meansAllBelow?: boolean
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
  /** `cd` follows links before it goes up. */
  isPhysical = false

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
    this.isPhysical ||= /\bset\s+(?:-\w*P|-o\s+physical)/.test(body)
  }

  /** @param printed what the commands of a substitution print */
  read(
    raw: string,
    { allBases, bases }: Pick<Standing, 'allBases' | 'bases'>,
    printed: (commands: string) => Expanded | undefined,
  ): WordReading {
    const usual: Readonly<Record<string, readonly string[]>> = { PWD: bases, OLDPWD: allBases, IFS: [' '] }
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
    const { isGuess, isWritten, meansAllBelow = false } = standing
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

  /** May a command read all that lies below a folder among its operands? `undefined`: there is none. */
  readsBelow(command: string | undefined, words: readonly WordReading[]): boolean {
    if (command === undefined) return false
    if (command === 'du')
      return !words.some(({ values }, at) => values.some((value) => isBrief(value, words[at + 1]?.values[0])))
    return !looksAtFolderAlone.has(command) || this.functions.has(command)
  }

  /** The paths that a piece of a word can be; none for what is wholly unknown, unless the body has gone elsewhere. */
  pathsOf(piece: string, standing: Pick<Standing, 'allBases' | 'bases'>): readonly string[] {
    const { bases } = standing
    const paths = this.#writtenPaths(piece, standing)
    return paths.flatMap((path) => [path, ...processPlaces(path, bases)])
  }

  /** Folders that the body may have stood in before, or that it says it has. */
  earlierFolders({ allBases, bases }: Pick<Standing, 'allBases' | 'bases'>): readonly string[] {
    return [...allBases, ...this.#foldersIn('OLDPWD', bases), ...this.#foldersIn('DIRSTACK', bases)]
  }

  /** Folders that a variable holds, where the body assigns it. */
  #foldersIn(name: string, bases: readonly string[]): readonly string[] {
    const { values = [], hasUnknown = false } = this.#variables.get(name) ?? {}
    const known = values.filter((value) => value !== '' && !value.startsWith(wild.unknown))
    const folders = known.flatMap((value) => bases.flatMap((base) => this.#from(value, base)))
    return hasUnknown ? [...folders, `/${wild.unknown}`] : folders
  }

  /** Folders that `~` can be: a body may assign `HOME`, with the `~` of before in it. */
  homes(bases: readonly string[]): readonly string[] {
    const { values = [], hasUnknown = false } = this.#variables.get('HOME') ?? {}
    const ofHome = values.filter((value) => /^~(?:\/|$)/.test(value))
    const plain = values.filter((value) => !ofHome.includes(value) && !value.startsWith(wild.unknown))
    const homes = new Set(
      plain.flatMap((value) => (/^(?:\/|$)/.test(value) ? [value] : bases.map((base) => `${base}/${value}`))),
    )
    if (hasUnknown) homes.add(`/${wild.unknown}`)
    for (const value of ofHome)
      for (const home of Array.from(homes)) if (homes.size < maxHomes) homes.add(home + value.slice(1))
    return [...homes]
  }

  #writtenPaths(piece: string, standing: Pick<Standing, 'allBases' | 'bases'>): readonly string[] {
    const { bases } = standing
    const [, from, rest = ''] = /^~([+-]?\d+|[+-])(?=\/|$)(.*)$/s.exec(piece) ?? []
    if (from !== undefined) {
      const folders = from === '+' ? [...bases, ...this.#foldersIn('PWD', bases)] : this.earlierFolders(standing)
      return folders.map((base) => base + rest)
    }
    const isUnknown = piece.startsWith(wild.unknown)
    return bases.flatMap((base) => {
      if (!isUnknown || base !== this.#base.cwd) return this.#from(piece, base)
      return /^\uE005+$/.test(piece) ? [] : [`/${piece}`]
    })
  }

  #from(path: string, cwd: string): readonly string[] {
    const user = /^~(\w[\w.-]*)(.*)$/s.exec(path)
    if (user !== null && this.#base.home.endsWith(`/${user[1]}`)) return [this.#base.home + user[2]]
    if (/^~(?:\/|$)/.test(path)) return this.homes([cwd]).map((home) => home + path.slice(1))
    return [absolute(path, { ...this.#base, cwd })]
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
