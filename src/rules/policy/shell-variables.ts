import type { Expanded } from './parameter-expansion.ts'
import type { Base } from './paths.ts'
import { joined } from './shell-programs.ts'
import { asWritten, type WordReading } from './shell-word.ts'

interface Variable {
  readonly values: Set<string>
  hasUnknown: boolean
  mayBeUnset: boolean
}

/** Most values that are kept of a variable. */
const maxVariableValues = 32
/** Most operands that `$1` and so on are kept of. */
const maxPositionals = 16

/** Variables of the environment: other processes have them, too. */
const inherited = new Set(['HOME', 'USER', 'LOGNAME', 'PWD', 'OLDPWD'])

/** All that the variables of a shell body can be: what is assigned to them anywhere before. */
export class ShellVariables {
  readonly #known = new Map<string, Variable>()

  #children = 0

  constructor({ cwd, home }: Base) {
    const user = home.slice(home.lastIndexOf('/') + 1)
    for (const [name, value] of Object.entries({ HOME: home, LOGNAME: user, PWD: cwd, USER: user }))
      this.#known.set(name, { values: new Set([value]), hasUnknown: false, mayBeUnset: false })
  }

  get(name: string): Expanded | undefined {
    const known = this.#known.get(name)
    const isLost = this.#children > 0 && !/^[\d@*]/.test(name) && !inherited.has(name)
    const mayBeUnset = known?.mayBeUnset === true || isLost
    return known && { values: [...known.values], hasUnknown: known.hasUnknown, mayBeUnset }
  }

  /** Reads what runs in another process, which has only the variables that are exported. */
  inChild(read: () => void): void {
    this.#children++
    read()
    this.#children--
  }

  /** @param isSure the assignment takes place, and holds for what follows */
  assign(name: string, { values, hasUnknown, isTooMuch }: WordReading, isSure: boolean, isAppended = false): void {
    const known = this.#known.get(name) ?? { values: new Set<string>(), hasUnknown: false, mayBeUnset: !isSure }
    const added = values.map(asWritten)
    const before = isAppended ? [...known.values] : []
    for (const value of [...added, ...before.flatMap((start) => added.map((end) => start + end))])
      if (known.values.size < maxVariableValues || known.values.has(value)) known.values.add(value)
      else known.hasUnknown = true
    known.hasUnknown ||= hasUnknown || isTooMuch
    this.#known.set(name, known)
  }

  /** A value that is known only when it runs is added to those that a variable can have. */
  forget(name: string): void {
    const known = this.#known.get(name)
    if (known !== undefined) known.hasUnknown = true
  }

  /** Words become `$1` and so on, as by `set`, a call of a function or a program that is handed to a shell. */
  setPositionals(words: readonly WordReading[]): void {
    for (const [at, word] of words.slice(0, maxPositionals).entries())
      for (const name of [String(at + 1), '@', '*']) this.assign(name, word, false)
    if (words.length < 2) return
    const { hasUnknown, texts } = joined(words)
    const together = texts.flatMap((text) => [text, text.replaceAll(' ', '')])
    this.assign('*', { values: together, hasUnknown, isTooMuch: false }, false)
  }
}
