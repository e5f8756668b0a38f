import { isPattern, wild } from './glob.ts'
import { absolute, segmentsOf, type Base } from './paths.ts'
import { asWritten, baseName, piecesOf, readWord, type WordReading } from './shell-word.ts'

/** A node of a syntax tree of the bash grammar of tree-sitter, as data. */
export interface SyntaxNode {
  readonly type: string
  /** Its place in the body, in UTF-16 units. */
  readonly start: number
  readonly end: number
  readonly children: readonly SyntaxNode[]
}

/** What a shell body says, as far as it can be read without running it. JSON, and recorded with its call. */
export interface ShellReading {
  readonly words: readonly ShellWord[]
  /** Texts of programs and what is not known before it runs: searched for the names of credential paths. */
  readonly texts: readonly string[]
  /** The first part that cannot be read. */
  readonly opaque?: string | undefined
  /** The words, as written, of a body that is one simple command. */
  readonly command?: readonly string[] | undefined
}

/** A word that is, or has in it, a path. */
export interface ShellWord {
  readonly text: string
  /** Absolute; `.`, `..` and links are left as they are, and unquoted wildcards are characters of `wild`. */
  readonly paths: readonly string[]
  /** Its command may read all that lies below a folder. */
  readonly meansAllBelow: boolean
}

/** Longest body that is read; a longer one is opaque. */
export const maxShellBodyChars = 16_384
/** Deepest tree that is read; what lies deeper is opaque. */
export const maxShellDepth = 100

/** The reading of a body that has no tree: it cannot be parsed, or is too long or too deep. */
export function unreadableShell(body: string): ShellReading {
  return { words: [], texts: [body], opaque: body.slice(0, 1_000) }
}

/** Reads a body from its syntax tree. */
export function readShell(body: string, root: SyntaxNode, base: Base): ShellReading {
  const first = new ShellReader(body, base)
  first.visit(root)
  if (!first.mayRunEarlierText) return first.reading()
  // A function or a loop may see what is assigned below it.
  const second = new ShellReader(body, base, first)
  second.visit(root)
  return second.reading()
}

const wordTypes = new Set(
  (
    'word concatenation string raw_string ansi_c_string translated_string simple_expansion expansion number extglob_pattern ' +
    'regex brace_expression arithmetic_expansion command_substitution process_substitution command_name ~'
  ).split(' '),
)
/** Commands that name a folder without reading what lies below it. */
const looksAtFolderAlone = new Set(['cd', 'ls', 'pwd', 'echo', 'stat', 'du', 'mkdir', 'test'])
/** Commands that run the command that follows. */
const wrappers = new Set(
  'sudo doas env command builtin exec nohup time nice ionice timeout xargs stdbuf setsid chroot busybox'.split(' '),
)
const interpreters = /^(?:(?:ba|z|da|k|a|c|tc|fi)?sh|python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|source|\.)$/
const decoders =
  /^(?:base64|base32|basenc|xxd|od|openssl|uudecode|gunzip|zcat|gzip|bunzip2|bzip2|bzcat|xz|unxz|xzcat|zstd|lz4|rev|tr|printf)$/
/** Commands whose arguments are names of variables that they set. */
const assigners = new Set(['read', 'mapfile', 'readarray', 'printf', 'getopts', 'unset', 'let'])
/** Most folders that a body can stand in, and most paths of a word. */
const maxBases = 32
const maxPaths = 256
/** Most values that are kept of a variable. */
const maxVariableValues = 32

interface Variable {
  readonly values: Set<string>
  hasUnknown: boolean
}

class ShellReader {
  /** It has functions or loops. */
  mayRunEarlierText = false
  readonly #body: string
  readonly #base: Base
  readonly #variables: Map<string, Variable>
  readonly #functions: Set<string>
  readonly #words = new Map<string, ShellWord>()
  readonly #texts = new Set<string>()
  /** Names of commands, in the order in which they are met. */
  readonly #names: string[] = []
  /** Folders that the body may stand in here, and all that it has stood in. */
  #bases: readonly string[]
  #allBases: readonly string[]
  #opaque: string | undefined
  /** It went to more folders than are followed. */
  #isLost = false

  constructor(body: string, base: Base, earlier?: ShellReader) {
    this.#body = body
    this.#base = base
    this.#bases = [base.cwd]
    this.#allBases = earlier === undefined ? [base.cwd] : earlier.#allBases
    this.#variables = earlier === undefined ? new Map() : earlier.#variables
    this.#functions = earlier === undefined ? new Set() : earlier.#functions
  }

  reading(): ShellReading {
    const known = { words: [...this.#words.values()], texts: [...this.#texts] }
    return this.#opaque === undefined ? known : { ...known, opaque: this.#opaque }
  }

  visit(node: SyntaxNode): void {
    switch (node.type) {
      case 'ERROR':
        this.#cannotRead(node)
        this.#texts.add(this.#body)
        return this.#children(node)
      case 'comment':
        return
      case 'list':
        return this.#list(node)
      case 'pipeline':
        return this.#pipeline(node)
      case 'command':
        return this.#command(node)
      case 'variable_assignment':
        return this.#assignment(node)
      case 'test_command':
        return this.#children(node, 'test')
      case 'for_statement':
        return this.#loop(node)
      case 'while_statement':
        this.mayRunEarlierText = true
        return this.#children(node)
      case 'function_definition':
        this.mayRunEarlierText = true
        this.#functions.add(this.#source(node.children.find(({ type }) => type === 'word') ?? node))
        return this.#children(node)
      case 'subshell':
      case 'command_substitution':
      case 'process_substitution':
        return this.#apart(node)
      case 'redirected_statement':
        return this.#redirected(node)
      case 'heredoc_body':
        this.#texts.add(this.#source(node))
        return this.#children(node)
      default:
        return this.#children(node)
    }
  }

  /** Visits what is in a node; words in it belong to a command, if there is one. */
  #children(node: SyntaxNode, command?: string): void {
    for (const part of this.#parts(node.children)) {
      if (isWord(part)) this.#word(part, command)
      else if (command !== undefined && !isStatement(part)) this.#children(part, command)
      else this.#statement(part)
    }
  }

  /** Children, those that make one word together as an array. */
  #parts(children: readonly SyntaxNode[]): readonly Part[] {
    const parts: (SyntaxNode | SyntaxNode[])[] = []
    for (const child of children) {
      const last = parts.at(-1)
      if (!wordTypes.has(child.type)) parts.push(child)
      else if (Array.isArray(last) && last.at(-1)?.end === child.start) last.push(child)
      else parts.push([child])
    }
    return parts
  }

  /** In a shell of its own a `cd` ends with it. */
  #apart(node: SyntaxNode): void {
    const before = this.#bases
    this.#children(node)
    this.#bases = before
  }

  /** `a && b`: b stands where a has gone. Behind anything else a `cd` may have failed. */
  #list(node: SyntaxNode): void {
    const isBoth = node.children.some(({ type }) => type === '&&')
    this.#inFolders(() => {
      for (const child of node.children) {
        if (isBoth) this.visit(child)
        else this.#statement(child)
      }
    }, isBoth)
  }

  /** Visits a statement. Behind it the body stands where that has gone, or where it was. */
  #statement(node: SyntaxNode): void {
    this.#inFolders(() => this.visit(node), false)
  }

  #inFolders(visit: () => void, isSure: boolean): void {
    const before = this.#bases
    visit()
    if (!isSure) this.#bases = this.#united(this.#bases, before)
  }

  #united(one: readonly string[], other: readonly string[]): readonly string[] {
    const all = [...new Set([...one, ...other])]
    if (all.length <= maxBases) return all
    // From here on the folder is not known: the body is searched as text, and no `cd` is followed.
    this.#opaque ??= 'cd'
    this.#texts.add(this.#body)
    this.#isLost = true
    return all.slice(0, maxBases)
  }

  #pipeline(node: SyntaxNode): void {
    let decoding = false
    for (const child of node.children) {
      const before = this.#names.length
      this.visit(child)
      const names = this.#names.slice(before)
      if (decoding && names.some((name) => interpreters.test(name))) this.#cannotRead(node)
      decoding ||= this.#decodes(names, child)
    }
  }

  #decodes(names: readonly string[], node: SyntaxNode): boolean {
    return names.some((name) => decoders.test(name)) || (names.includes('echo') && /\s-\w*e/.test(this.#source(node)))
  }

  #redirected(node: SyntaxNode): void {
    const before = this.#names.length
    this.#children(node)
    const names = this.#names.slice(before)
    if (names.some((name) => interpreters.test(name)) && names.some((name) => decoders.test(name)))
      this.#cannotRead(node)
  }

  #command(node: SyntaxNode): void {
    const parts = this.#parts(node.children)
    const before = this.#names.length
    const words = wordsAmong(parts).map((part) => this.#read(part))
    const named = words[0]
    const name = named === undefined ? '' : baseName(named.values[0] ?? '')
    if (named !== undefined) this.#judgeName(node, words, name)
    let isName = true
    for (const part of parts) {
      if (!isWord(part)) this.visit(part)
      else {
        this.#word(part, isName ? undefined : name)
        isName = false
      }
    }
    const names = this.#names.slice(before)
    if (interpreters.test(name) && names.some((one) => decoders.test(one))) this.#cannotRead(node)
    if (['cd', 'pushd', 'popd'].includes(name)) this.#changeFolder(words.slice(1))
    if (assigners.has(name))
      for (const { values } of words) for (const value of values) this.#forget(value.replace(/=.*/, ''))
  }

  /** Is it known what the command runs? */
  #judgeName(node: SyntaxNode, words: readonly WordReading[], name: string): void {
    const run = words.findIndex(
      ({ values }, at) => at > 0 && values.some((value) => !/^(-|\w+=|\d)/.test(value.replace(wild.unknown, ''))),
    )
    const isWrapper = wrappers.has(name)
    const named = isWrapper ? [words[0], words[run]] : [words[0]]
    if (named.some((word) => word?.hasUnknown === true || word?.values.some(isPattern))) this.#cannotRead(node)
    const names = (isWrapper ? words : words.slice(0, 1)).flatMap(({ values }) => values.map(baseName))
    this.#names.push(...names)
    if (names.includes('eval')) this.#cannotRead(node)
    if (!names.some((one) => interpreters.test(one))) return
    const program = words.findIndex(({ values }) => values.some((value) => /^-\w*[ce]$/.test(value)))
    if (program !== -1 && words[program + 1]?.hasUnknown === true) this.#cannotRead(node)
    const isSourced = names.includes('source') || names.includes('.')
    if (isSourced && this.#source(node).includes('<(')) this.#cannotRead(node)
  }

  #changeFolder(words: readonly WordReading[]): void {
    if (this.#isLost) return
    const target = words.find(({ values }) => !/^-./.test(values[0] ?? ''))
    if (target?.values[0] === '-') this.#bases = this.#allBases
    else if (target === undefined) this.#bases = [this.#base.home]
    else if (!target.hasUnknown) {
      const folders = target.values.flatMap((value) => this.#bases.map((cwd) => this.#from(asWritten(value), cwd)))
      this.#bases = [...new Set(folders.map((folder) => `/${segmentsOf(folder).join('/')}`))]
    } else this.#texts.add(this.#body)
    this.#allBases = this.#united(this.#allBases, this.#bases)
  }

  #assignment(node: SyntaxNode): void {
    const parts = this.#parts(node.children)
    const name = node.children.find(({ type }) => type === 'variable_name' || type === 'subscript')
    const key = name === undefined ? '' : this.#source(name).replace(/\[.*/s, '')
    const isAppended = node.children.some(({ type }) => type === '+=')
    const values = wordsAmong(parts)
    const arrays = node.children.filter(({ type }) => type === 'array')
    const inArrays = arrays.flatMap((array) => wordsAmong(this.#parts(array.children)))
    for (const value of [...values, ...inArrays]) this.#assign(key, this.#read(value), isAppended)
    this.#children(node)
  }

  #assign(key: string, { values, hasUnknown, isTooMuch }: WordReading, isAppended = false): void {
    const known = this.#variables.get(key) ?? { values: new Set<string>(), hasUnknown: false }
    const added = values.map(asWritten)
    const before = isAppended ? [...known.values] : []
    for (const value of [...added, ...before.flatMap((start) => added.map((end) => start + end))])
      if (known.values.size < maxVariableValues || known.values.has(value)) known.values.add(value)
      else known.hasUnknown = true
    known.hasUnknown ||= hasUnknown || isTooMuch
    this.#variables.set(key, known)
  }

  /** A value that is known only when it runs is added to those that a variable can have. */
  #forget(key: string): void {
    const known = this.#variables.get(key)
    if (known !== undefined) known.hasUnknown = true
  }

  #loop(node: SyntaxNode): void {
    this.mayRunEarlierText = true
    const name = node.children.find(({ type }) => type === 'variable_name')
    const words = wordsAmong(this.#parts(node.children))
    if (name !== undefined) for (const word of words) this.#assign(this.#source(name), this.#read(word))
    this.#children(node)
  }

  /** Reads a word for its paths and its text, and visits the substitutions in it. */
  #word(nodes: readonly SyntaxNode[], command?: string): void {
    const text = this.#body.slice(nodes[0]?.start, nodes.at(-1)?.end)
    const reading = this.#read(nodes)
    const meansAllBelow =
      command !== undefined && !reading.hasUnknown && (!looksAtFolderAlone.has(command) || this.#functions.has(command))
    const paths = new Set<string>()
    for (const value of reading.values)
      for (const piece of piecesOf(value.replaceAll(wild.unknown, '')))
        for (const base of this.#bases) if (paths.size < maxPaths) paths.add(this.#from(piece, base))
    if (reading.isTooMuch || paths.size >= maxPaths) this.#opaque ??= text
    const known = this.#words.get(text)
    const before = known?.paths ?? []
    this.#words.set(text, {
      text,
      paths: [...new Set([...before, ...paths])],
      meansAllBelow: meansAllBelow || known?.meansAllBelow === true,
    })
    const isProgram = reading.values.some((value) => /[\s()"'`]/.test(value))
    if (isProgram || reading.hasUnknown || /^~[^/]/.test(text)) {
      this.#texts.add(text)
      for (const value of reading.values) this.#texts.add(asWritten(value))
    }
    for (const node of nodes) this.#substitutions(node)
  }

  #substitutions(node: SyntaxNode): void {
    if (node.type === 'command_substitution' || node.type === 'process_substitution' || node.type === 'ERROR')
      this.visit(node)
    else for (const child of node.children) this.#substitutions(child)
  }

  #read(nodes: readonly SyntaxNode[]): WordReading {
    const raw = this.#body.slice(nodes[0]?.start, nodes.at(-1)?.end)
    return readWord(raw, (name) => {
      const known = this.#variables.get(name)
      const more =
        name === 'HOME' ? [this.#base.home] : name === 'PWD' ? this.#bases : name === 'OLDPWD' ? this.#allBases : []
      if (known === undefined) return more.length === 0 ? undefined : { values: more, hasUnknown: false }
      return { values: [...new Set([...more, ...known.values])], hasUnknown: known.hasUnknown }
    })
  }

  #from(path: string, cwd: string): string {
    if (path.startsWith('~+')) return cwd + path.slice(2)
    const user = /^~(\w[\w.-]*)(.*)$/s.exec(path)
    const isOwn = user !== null && this.#base.home.endsWith(`/${user[1]}`)
    return absolute(isOwn ? `~${user[2]}` : path, { ...this.#base, cwd })
  }

  #cannotRead(node: SyntaxNode): void {
    this.#opaque ??= this.#source(node)
  }

  #source(node: SyntaxNode): string {
    return this.#body.slice(node.start, node.end)
  }
}

type Part = SyntaxNode | readonly SyntaxNode[]

function isWord(part: Part): part is readonly SyntaxNode[] {
  return Array.isArray(part)
}

function wordsAmong(parts: readonly Part[]): readonly (readonly SyntaxNode[])[] {
  return parts.filter(isWord)
}

/** Nodes that run commands, also where they stand in a test. */
function isStatement({ type }: SyntaxNode): boolean {
  return /substitution|statement|command|ERROR/.test(type)
}
