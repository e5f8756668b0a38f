import { wild } from './glob.ts'
import { type Base, segmentsOf } from './paths.ts'
import type { Expanded } from './parameter-expansion.ts'
import { maxShellBodyChars, type ParseShell, type SyntaxNode } from './shell-reading.ts'
import { ShellVariables } from './shell-variables.ts'
import { fieldsOf, namesOf, type WordReading } from './shell-word.ts'
import { ShellWords } from './shell-words.ts'
import { WrittenFiles } from './written-files.ts'

const wordTypes = new Set(
  (
    'word concatenation string raw_string ansi_c_string translated_string simple_expansion expansion number extglob_pattern ' +
    'regex brace_expression arithmetic_expansion command_substitution process_substitution command_name ~'
  ).split(' '),
)
/** Most folders that a body can stand in. */
const maxFolders = 32
/** Most texts in a body that are read as programs, and how deep they may lie in each other. */
const maxBodies = 64
const maxBodyDepth = 6
/** Most words that are looked at where the grammar finds none. */
const maxLooseWords = 1_000

/** Nodes that make one word together, or another node. */
export type Part = SyntaxNode | readonly SyntaxNode[]

/** What a body has come to where it is read: its words and variables so far, and the folders that it may stand in. */
export class ShellScope {
  readonly variables: ShellVariables
  readonly words: ShellWords
  readonly base: Base
  readonly #files: WrittenFiles
  /** Folders that the body may stand in here, and all that it has stood in. */
  folders: readonly string[]
  allFolders: readonly string[]
  /** The first part that cannot be read. */
  opaque: string | undefined
  isGuess = false
  readonly #parse: ParseShell
  readonly #printed: (root: SyntaxNode, scope: ShellScope) => Expanded | undefined
  #body: string
  /** It went to more folders than are followed. */
  #isLost = false
  #bodiesLeft = maxBodies
  #bodyDepth = 0

  /** @param printed what the commands of a substitution print */
  constructor(
    body: string,
    base: Base,
    parse: ParseShell,
    printed: (root: SyntaxNode, scope: ShellScope) => Expanded | undefined,
    earlier?: ShellScope,
  ) {
    this.#body = body
    this.base = base
    this.#parse = parse
    this.#printed = printed
    this.folders = [base.cwd]
    this.allFolders = earlier === undefined ? [base.cwd] : earlier.allFolders
    this.variables = earlier === undefined ? new ShellVariables(base) : earlier.variables
    this.words = earlier === undefined ? new ShellWords(base, this.variables) : earlier.words
    this.#files = earlier === undefined ? new WrittenFiles() : earlier.#files
    this.opaque = earlier?.opaque
    this.words.noteOptions(body)
  }

  get body(): string {
    return this.#body
  }

  source(node: SyntaxNode): string {
    return this.#body.slice(node.start, node.end)
  }

  cannotRead(node: SyntaxNode): void {
    this.opaque ??= this.source(node)
  }

  /** Children, those that make one word together as an array. */
  parts(children: readonly SyntaxNode[]): readonly Part[] {
    const parts: (SyntaxNode | SyntaxNode[])[] = []
    for (const child of children) {
      const last = parts.at(-1)
      if (!wordTypes.has(child.type)) parts.push(child)
      else if (Array.isArray(last) && last.at(-1)?.end === child.start) last.push(child)
      else parts.push([child])
    }
    return parts
  }

  wordsIn(node: SyntaxNode): readonly (readonly SyntaxNode[])[] {
    return this.parts(node.children).filter(isWord)
  }

  /** The words of a command, as an unquoted expansion splits them. */
  commandWords(node: SyntaxNode): readonly WordReading[] {
    return this.wordsIn(node).flatMap((word) => splitWord(this.read(word)))
  }

  commandName(node: SyntaxNode): string | undefined {
    const [first] = node.type === 'command' ? this.commandWords(node) : []
    return first === undefined ? undefined : namesOf(first)[0]
  }

  read(nodes: readonly SyntaxNode[]): WordReading {
    return this.readText(this.#body.slice(nodes[0]?.start, nodes.at(-1)?.end))
  }

  readText(raw: string): WordReading {
    return this.words.read(raw, { bases: this.folders, allBases: this.allFolders }, (commands) => {
      const root = this.parsed(commands)
      return root && this.within(commands, () => this.#printed(root, this))
    })
  }

  /** Reads a text as a program; `undefined`: it is none that is read. */
  parsed(text: string): SyntaxNode | undefined {
    if (this.#bodiesLeft <= 0 || this.#bodyDepth >= maxBodyDepth || text.length > maxShellBodyChars) return undefined
    this.#bodiesLeft--
    return this.#parse(text)
  }

  /** Keeps what looks like words where the grammar finds none, such as patterns that only an option of bash allows. */
  noteLooseWords(): void {
    const loose = /(?:[?*+@!]\([^()\s]*\)|\\.|'[^']*'|"[^"]*"|[^\s;|&<>()])+/g
    const standing = { isWritten: false, isGuess: true, bases: this.folders, allBases: this.allFolders }
    for (const text of (this.#body.match(loose) ?? []).slice(0, maxLooseWords))
      this.words.note(text, this.readText(text), standing)
  }

  /** Keeps a word of a command with what `xargs` puts into it. */
  noteFilled(word: WordReading, command: string): void {
    const { allFolders: allBases, folders: bases, isGuess } = this
    const text = word.values.join(' ').replaceAll(wild.unknown, '{}')
    const meansAllBelow = this.words.readsBelow(command, [])
    this.words.note(text, { ...word, hasUnknown: true }, { meansAllBelow, isWritten: false, isGuess, bases, allBases })
  }

  /** Takes down what goes into the file that a word names. */
  write(word: WordReading, text: Expanded): void {
    this.#files.write(this.#filesNamed(word), text)
  }

  /** What the body has written into the file that a word names; `undefined`: nothing. */
  written(word: WordReading): Expanded | undefined {
    return this.#files.read(this.#filesNamed(word))
  }

  #filesNamed({ values }: WordReading): readonly string[] {
    const standing = { bases: this.folders, allBases: this.allFolders }
    const paths = values.flatMap((value) => this.words.pathsOf(value, standing))
    return [...new Set([...values, ...paths.map((path) => `/${segmentsOf(path).join('/')}`)])]
  }

  /** Takes a text for the body meanwhile. */
  within<Result>(text: string, read: () => Result): Result {
    const outer = this.#body
    this.#body = text
    this.#bodyDepth++
    const result = read()
    this.#body = outer
    this.#bodyDepth--
    return result
  }

  /** What comes next stands where this has gone, or, unless it is sure, where it was. */
  inFolders(read: () => void, isSure: boolean): void {
    const before = this.folders
    read()
    if (!isSure) this.folders = this.united(this.folders, before)
  }

  united(one: readonly string[], other: readonly string[]): readonly string[] {
    const all = [...new Set([...one, ...other])]
    if (all.length <= maxFolders) return all
    // From here on the folder is not known: the body is searched as text, and no `cd` is followed.
    this.opaque ??= 'cd'
    this.words.texts.add(this.#body)
    this.#isLost = true
    return all.slice(0, maxFolders)
  }

  /** Follows `cd`, `pushd` or `popd` with these operands. */
  changeFolder(name: string, words: readonly WordReading[]): void {
    if (this.#isLost) return
    const standing = { bases: this.folders, allBases: this.allFolders }
    const has = (option: RegExp): boolean => words.some(({ values }) => values.some((value) => option.test(value)))
    const target = words.find(({ values }) => !/^-./.test(values[0] ?? ''))
    const ofStack = name !== 'cd' && (target === undefined || /^\+\d+$/.test(target.values[0] ?? ''))
    let gone: readonly string[]
    if (ofStack || target?.values[0] === '-') gone = this.words.earlierFolders(standing)
    else if (target === undefined) gone = this.words.homes(this.folders)
    else {
      const found = this.#namedFolders(target)
      const read = [...new Set(found.map((folder) => `/${segmentsOf(folder).join('/')}`))]
      // Of a target that is not known at all the folder may be any.
      const all = read.length === 0 ? [...this.folders, `/${wild.unknown}`] : read
      // `..` behind a link is the folder above the one that it leads to.
      gone = has(/^-\w*P/) || this.words.isPhysical ? [...new Set([...all, ...found])] : all
      if (target.hasUnknown) this.words.texts.add(this.#body)
    }
    // `pushd -n` goes nowhere yet.
    if (name === 'cd' || !has(/^-n$/)) this.folders = gone.slice(0, maxFolders)
    this.allFolders = this.united(this.allFolders, gone)
  }

  /** Where the target of a `cd` can lie. */
  #namedFolders(target: WordReading): readonly string[] {
    const standing = { bases: this.folders, allBases: this.allFolders }
    const { values = [], hasUnknown = false } = this.variables.get('CDPATH') ?? {}
    const searched = values.flatMap((value) => value.split(':')).flatMap((value) => this.words.pathsOf(value, standing))
    const from = [...this.folders, ...searched, ...(hasUnknown ? [`/${wild.unknown}`] : [])]
    return target.values.flatMap((value) => {
      const path = value.replaceAll(wild.blank, ' ')
      return from.flatMap((folder) => this.words.pathsOf(path, { bases: [folder], allBases: this.allFolders }))
    })
  }

  /** Some commands go to a folder first, as `env -C` does: what follows may stand there, too. */
  alsoIn(target: WordReading): void {
    const named = target.hasUnknown ? [`/${wild.unknown}`] : []
    this.folders = this.united(this.folders, [...this.#namedFolders(target), ...named])
  }
}

export function isWord(part: Part): part is readonly SyntaxNode[] {
  return Array.isArray(part)
}

/** The words that an unquoted expansion is split into. */
export function splitWord(word: WordReading): readonly WordReading[] {
  const all = word.values.map(fieldsOf)
  const count = Math.max(1, ...all.map(({ length }) => length))
  if (count === 1) return [word]
  return Array.from({ length: count }, (_, at) => ({
    ...word,
    values: [...new Set(all.flatMap((fields) => fields[at] ?? []))],
  }))
}
