import { wild } from './glob.ts'
import type { Base } from './paths.ts'
import type { Expanded } from './parameter-expansion.ts'
import {
  isHidden,
  isOfOtherLanguage,
  languageOf,
  type OtherProgram,
  otherProgram,
  otherPrograms,
  takesProgram,
} from './other-programs.ts'
import { inputOf, isTelling, printedBy } from './shell-output.ts'
import {
  filledWords,
  type HandedBody,
  handedPrograms,
  hidesWhatItRuns,
  namesRun,
  type RunFile,
  takesDecoded,
} from './shell-programs.ts'
import { crontabLines, type ScheduledProgram } from './scheduled-programs.ts'
import { commandTexts, takesTexts } from './command-texts.ts'
import { printedInto, writtenByCommand } from './file-writing.ts'
import { optionFolders } from './option-folders.ts'
import { setBy } from './shell-settings.ts'
import { findNode, type ParseShell, type ShellReading, type SyntaxNode } from './shell-reading.ts'
import { isWord, ShellScope, splitWord } from './shell-scope.ts'
import { asWritten, namesOf, type WordReading } from './shell-word.ts'
import { writtenAmong } from './written-words.ts'

/** What is known only when it runs. */
const unknown: Expanded = { values: [], hasUnknown: true }

/** Reads a body from its syntax tree, and the programs in it. */
export class ShellReader {
  /** It has functions or loops. */
  mayRunEarlierText = false
  readonly #scope: ShellScope
  /** Names of commands, in the order in which they are met. */
  readonly #names: string[] = []
  /** What a command reads; `undefined`: nothing, or a file. */
  #input: Expanded | undefined
  /** How many statements around may not run, or run in a shell of their own, or in a substitution. */
  #doubt = 0
  #substitutions = 0

  constructor(body: string, base: Base, parse: ParseShell, earlier?: ShellReader) {
    this.#scope = new ShellScope(body, base, parse, printedBy, earlier === undefined ? undefined : earlier.#scope)
  }

  reading(): ShellReading {
    const { opaque, words } = this.#scope
    const programs = [...words.programs]
    const known = { words: words.all, texts: [...words.texts], ...(programs.length > 0 && { programs }) }
    return opaque === undefined ? known : { ...known, opaque }
  }

  visit(node: SyntaxNode): void {
    switch (node.type) {
      case 'ERROR':
        this.#scope.cannotRead(node)
        this.#scope.words.texts.add(this.#scope.body)
        this.#scope.noteLooseWords()
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
      case 'unset_command':
        for (const child of node.children) this.#scope.variables.forget(this.#scope.source(child))
        return this.#children(node)
      case 'declaration_command':
        return this.#declaration(node)
      case 'test_command':
        return this.#children(node, 'test')
      case 'for_statement':
        return this.#loop(node)
      case 'while_statement':
        this.mayRunEarlierText = true
        return this.#doubted(() => this.#children(node))
      case 'function_definition':
        this.mayRunEarlierText = true
        this.#scope.words.functions.add(this.#scope.source(node.children.find(({ type }) => type === 'word') ?? node))
        return this.#doubted(() => this.#children(node))
      case 'if_statement':
      case 'case_statement':
        return this.#doubted(() => this.#children(node))
      case 'command_substitution':
        this.#substitutions++
        this.#apart(node)
        this.#substitutions--
        return
      case 'subshell':
      case 'process_substitution':
        return this.#apart(node)
      case 'redirected_statement':
        return this.#redirected(node)
      case 'file_redirect':
        return this.#children(node, /^[\d{]*[^<]*>|^&>|<>/.test(this.#scope.source(node)) ? '>' : '<')
      case 'heredoc_redirect':
        return this.#heredoc(node)
      default:
        return this.#children(node)
    }
  }

  /** Visits what is in a node; words in it belong to a command, if there is one. `>`: they are written to. */
  #children(node: SyntaxNode, command?: string): void {
    for (const part of this.#scope.parts(node.children)) {
      if (isWord(part)) this.#word(part, this.#scope.words.readsBelow(command, []), command === '>')
      else if (command !== undefined && !isStatement(part)) this.#children(part, command)
      else this.#statement(part)
    }
  }

  /** In a shell of its own a `cd` ends with it. */
  #apart(node: SyntaxNode): void {
    const before = this.#scope.folders
    this.#doubted(() => this.#children(node))
    this.#scope.folders = before
  }

  #doubted(read: () => void): void {
    this.#doubt++
    read()
    this.#doubt--
  }

  #reading(input: Expanded | undefined, read: () => void): void {
    const outer = this.#input
    this.#input = input ?? outer
    read()
    this.#input = outer
  }

  /** `a && b`: b stands where a has gone. Behind anything else a `cd` may have failed. */
  #list(node: SyntaxNode): void {
    const isBoth = node.children.some(({ type }) => type === '&&')
    const read = (): void => {
      for (const child of node.children) {
        if (isBoth) this.visit(child)
        else this.#statement(child)
      }
    }
    this.#scope.inFolders(read, isBoth)
  }

  /** Visits a statement. Behind it the body stands where that has gone, or where it was. */
  #statement(node: SyntaxNode): void {
    this.#scope.inFolders(() => this.visit(node), false)
  }

  #pipeline(node: SyntaxNode): void {
    const statements = node.children.filter(({ type }) => !type.startsWith('|'))
    const isLiteral = isTelling(printedBy(statements[0], this.#scope))
    const before: string[] = []
    let input = this.#input
    for (const child of statements) {
      const from = this.#names.length
      this.#doubted(() => this.#reading(input, () => this.visit(child)))
      const names = this.#names.slice(from)
      // A text that is at hand is changed before it is used: to hide what it says.
      const isChanged = this.#substitutions > 0 && isLiteral && before.length > 0
      if (isChanged || takesDecoded(before, names, this.#scope.source(node))) this.#scope.cannotRead(node)
      before.push(...names)
      input = printedBy(child, this.#scope) ?? unknown
    }
  }

  #redirected(node: SyntaxNode): void {
    const from = this.#names.length
    this.#reading(inputOf(node, this.#scope), () => this.#children(node))
    printedInto(node, this.#scope)
    // `exec < file` is for all that follows.
    if (this.#names[from] === 'exec') this.#input = inputOf(node, this.#scope) ?? this.#input
  }

  /** A pipe behind the mark of a here-document stands in its node: it reads what the command before makes of the document. */
  #heredoc(node: SyntaxNode): void {
    for (const child of node.children) {
      if (child.type === 'heredoc_body') this.#scope.words.texts.add(this.#scope.source(child))
      const isCopied = this.#names.at(-1) === 'cat'
      if (child.type === 'pipeline') this.#reading(isCopied ? this.#input : unknown, () => this.#statement(child))
      else this.#statement(child)
    }
  }

  #command(node: SyntaxNode): void {
    const parts = this.#scope.parts(node.children)
    const assignments = node.children.filter(({ type }) => type === 'variable_assignment')
    for (const assignment of assignments) this.#doubted(() => this.visit(assignment))
    const words = this.#scope.commandWords(node)
    const [named] = words
    const name = named === undefined ? '' : (namesOf(named)[0] ?? '')
    const own = inputOf(node, this.#scope)
    if (hidesWhatItRuns(words, this.#scope.source(node))) this.#scope.cannotRead(node)
    this.#names.push(...namesRun(words))
    const written = writtenAmong(words.map(({ values }) => values.map(asWritten)))
    const meansAllBelow = this.#scope.words.readsBelow(name, words)
    const elsewhere = optionFolders(words)
    const before = this.#scope.folders
    this.#reading(own, () => {
      let at = 0
      for (const part of parts) {
        if (isWord(part)) {
          const end = at + splitWord(this.#scope.read(part)).length
          const first = at
          const isWritten = written.some((index) => index >= first && index < end)
          this.#word(part, first > 0 && meansAllBelow, isWritten)
          for (; at < end; at++) for (const folder of elsewhere.get(at) ?? []) this.#scope.alsoIn(folder)
        } else if (part.type !== 'variable_assignment') this.visit(part)
      }
      const isChanged = this.#substitutions > 0 && isTelling(own) && printedBy(node, this.#scope) === undefined
      if (isChanged) this.#scope.cannotRead(node)
      this.#runHanded(node, words, name)
      if (elsewhere.size > 0) this.#scope.folders = before
      setBy(words, this.#scope, this.#input)
    })
    if (name === 'exec' && own !== undefined) this.#input = own
  }

  /** Reads the programs that a command runs. */
  #runHanded(node: SyntaxNode, words: readonly WordReading[], name: string): void {
    const filled = filledWords(words)
    const handed = handedPrograms(filled)
    for (const body of handed.bodies) this.#handedBody(node, body)
    for (const file of handed.files) this.#runFile(node, filled, file)
    if (handed.scheduled !== undefined) this.#schedule(node, filled, handed.scheduled)
    const input = this.#input
    if (handed.runsInput && input !== undefined) this.#runText(node, input)
    else if (input !== undefined && takesProgram(name, words)) this.#runText(node, input, name)
    else if (handed.mayRunInput) for (const value of input?.values ?? []) this.#guess(value)
    const isFed = words.some((word) => namesOf(word).some((one) => one === 'xargs' || one === 'parallel'))
    for (const value of isFed && input !== undefined ? input.values : []) this.#guess(`: ${value}`)
    for (const [at, word] of filled.entries()) if (word !== words[at]) this.#scope.noteFilled(word, name)
    writtenByCommand(words, this.#scope, input)
    if (!takesTexts(name) || isOfOtherLanguage(name))
      for (const program of otherPrograms(filled)) this.#runOther(node, program)
    for (const value of commandTexts(name, words)) this.#guess(asWritten(value))
  }

  /** Reads a file that a command runs, where the body itself writes it. */
  #runFile(node: SyntaxNode, words: readonly WordReading[], { at, name }: RunFile): void {
    const word = words[at]
    if (word === undefined) return
    const substitution = word.hasUnknown ? findNode(node, 'process_substitution') : undefined
    const text = substitution === undefined ? this.#scope.written(word) : printedBy(substitution, this.#scope)
    if (text !== undefined || substitution !== undefined) this.#runText(node, text ?? unknown, name)
  }

  /** Reads what runs later. A file that the body does not write is not known: it takes effect by itself. */
  #schedule(node: SyntaxNode, words: readonly WordReading[], { fileAt, form }: ScheduledProgram): void {
    const word = fileAt === undefined ? undefined : words[fileAt]
    const values = word?.values.map((value) => value.replace(/^-\w*f(?=.)/, '')) ?? []
    const text = word === undefined ? this.#input : (this.#scope.written({ ...word, values }) ?? unknown)
    if (text !== undefined) this.#runText(node, form === 'crontab' ? crontabLines(text) : text)
  }

  #runOther(node: SyntaxNode, { lines, runsUnknown, text }: OtherProgram): void {
    this.#scope.words.programs.add(text)
    if (lines !== '') this.#guess(lines)
    if (runsUnknown) this.#scope.cannotRead(node)
  }

  #handedBody(node: SyntaxNode, { hasUnknown, isApart, positionals, texts }: HandedBody): void {
    if (hasUnknown) this.#scope.cannotRead(node)
    this.#scope.variables.setPositionals(positionals)
    for (const text of texts) this.#readBody(text, isApart, node)
  }

  /** @param name of the interpreter of another language */
  #runText(node: SyntaxNode, { hasUnknown, values }: Expanded, name?: string): void {
    if (hasUnknown) this.#scope.cannotRead(node)
    for (const value of values) {
      const language = name ?? languageOf(value)
      if (language === undefined) this.#readBody(value, true, node)
      else {
        this.#scope.words.texts.add(value)
        if (isHidden(value)) this.#scope.cannotRead(node)
        this.#runOther(node, otherProgram(language, value))
      }
    }
  }

  #readBody(text: string, isApart: boolean, node: SyntaxNode): void {
    const { variables, words } = this.#scope
    const root = this.#scope.parsed(text)
    words.noteOptions(text)
    if (root === undefined) {
      words.texts.add(text)
      return this.#scope.cannotRead(node)
    }
    const before = this.#scope.folders
    const read = (): void => this.#scope.within(text, () => this.visit(root))
    this.#reading(undefined, () => (isApart ? variables.inChild(read) : read()))
    this.#scope.folders = isApart ? before : this.#scope.united(this.#scope.folders, before)
  }

  /** Reads a text that may be a program, such as an argument of `ssh` or an option of `git`. */
  #guess(text: string): void {
    if (this.#scope.isGuess) return
    const root = this.#scope.parsed(text)
    if (root === undefined) return
    const { allFolders, folders, opaque, words } = this.#scope
    const texts = new Set(words.texts)
    this.#scope.isGuess = true
    this.#scope.within(text, () => this.#doubted(() => this.visit(root)))
    Object.assign(this.#scope, { allFolders, folders, opaque, isGuess: false })
    for (const one of words.texts) if (!texts.has(one)) words.texts.delete(one)
  }

  #assignment(node: SyntaxNode, isReference = false): void {
    const name = node.children.find(({ type }) => type === 'variable_name' || type === 'subscript')
    const key = name === undefined ? '' : this.#scope.source(name).replace(/\[.*/s, '')
    const isAppended = node.children.some(({ type }) => type === '+=')
    const arrays = node.children.filter(({ type }) => type === 'array')
    for (const part of [node, ...arrays].flatMap((one) => this.#scope.wordsIn(one))) {
      const value = withoutSubscript(this.#scope.read(part))
      const held = isReference ? { ...value, hasUnknown: true } : value
      this.#scope.variables.assign(key, held, this.#doubt === 0, isAppended)
      for (const text of value.values) if (/\s/.test(text)) this.#guess(asWritten(text))
    }
    this.#children(node)
  }

  #declaration(node: SyntaxNode): void {
    const isReference = /^\w+\s+(?:-\w+\s+)*-\w*n/.test(this.#scope.source(node))
    for (const child of node.children.filter(isAssignment)) this.#assignment(child, isReference)
    this.#children({ ...node, children: node.children.filter((child) => !isAssignment(child)) })
  }

  #loop(node: SyntaxNode): void {
    this.mayRunEarlierText = true
    const name = node.children.find(({ type }) => type === 'variable_name')
    if (name !== undefined)
      for (const word of this.#scope.commandWords(node))
        this.#scope.variables.assign(this.#scope.source(name), word, true)
    this.#doubted(() => this.#children(node))
  }

  /** Keeps a word, and visits the substitutions in it. */
  #word(nodes: readonly SyntaxNode[], meansAllBelow: boolean, isWritten: boolean): void {
    const { allFolders: allBases, body, folders: bases, isGuess, words } = this.#scope
    const text = body.slice(nodes[0]?.start, nodes.at(-1)?.end)
    const isWhole = words.note(text, this.#scope.read(nodes), { meansAllBelow, isWritten, isGuess, bases, allBases })
    if (!isWhole) this.#scope.opaque ??= text
    for (const node of nodes) this.#substituted(node)
  }

  #substituted(node: SyntaxNode): void {
    if (/^(?:command|process)_substitution$|^ERROR$/.test(node.type)) this.visit(node)
    else for (const child of node.children) this.#substituted(child)
  }
}

/** An element of an array as its value: `[key]=value`. */
function withoutSubscript(word: WordReading): WordReading {
  return { ...word, values: word.values.map((value) => value.replace(subscript, '')) }
}

const subscript = new RegExp(`^${wild.open}[^${wild.close}]*${wild.close}=`)

function isAssignment({ type }: SyntaxNode): boolean {
  return type === 'variable_assignment'
}

/** Nodes that run commands, also where they stand in a test. */
function isStatement({ type }: SyntaxNode): boolean {
  return /substitution|statement|command|ERROR/.test(type)
}
