import { maxDepth } from '../world/canonical.ts'
import { valuePath } from './value-path.ts'

/** The beginning of a value's compact JSON text, and how long the whole of it is. */
export interface JsonText {
  readonly text: string
  readonly lengthChars: number
}

/** A value, or a part of it, that JSON cannot say. The message says which, and where it stands. */
export class NotJson extends Error {
  override readonly name = 'NotJson'
}

/** What stands in JSON as it is between quotes. Cheaper to test, over millions of short texts, than to quote them. */
const plainText = /^[ !#-[\]-\ud7ff]*$/

/**
 * Writes a value as `JSON.stringify` does, with two differences: of a huge value only the first characters are kept in
 * memory, and what `JSON.stringify` leaves out or turns into `null` or `{}` without a word is refused. Objects of classes
 * of one's own count by their fields; built-in ones have to have a `toJSON`. A key whose value is `undefined` is left out.
 *
 * @throws NotJson
 */
export function jsonText(value: unknown, maxChars: number): JsonText {
  const path: PropertyKey[] = []
  let text = ''
  let lengthChars = 0

  function write(piece: string): void {
    if (lengthChars < maxChars) text += piece.slice(0, maxChars - lengthChars)
    lengthChars += piece.length
  }

  function writeQuoted(piece: string): void {
    if (lengthChars >= maxChars && plainText.test(piece)) lengthChars += piece.length + 2
    else write(JSON.stringify(piece))
  }

  function refuse(what: string): never {
    throw new NotJson(path.length === 0 ? `it is ${what}` : `${valuePath(path)} is ${what}`)
  }

  function visit(given: unknown): void {
    if (typeof given === 'string') return writeQuoted(given)
    if (typeof given === 'number') return Number.isFinite(given) ? write(String(given)) : refuse(String(given))
    if (typeof given === 'boolean' || given === null) return write(String(given))
    if (typeof given !== 'object') return refuse(given === undefined ? 'undefined' : `a ${typeof given}`)
    if (path.length >= maxDepth) {
      path.length = 3
      return refuse(`nested more than ${maxDepth} levels deep, or holds itself`)
    }
    if (Array.isArray(given)) return visitItems(given)
    if ('toJSON' in given && typeof given.toJSON === 'function') return visitReplacement(given as Replaced)
    visitFields(given)
  }

  /** What `toJSON` gives is written as it is, without asking for its own `toJSON`. */
  function visitReplacement(given: Replaced): void {
    if (given instanceof Date && Number.isNaN(given.getTime())) return refuse('an invalid Date')
    const replacement: unknown = given.toJSON(String(path.at(-1) ?? ''))
    if (typeof replacement !== 'object' || replacement === null || Array.isArray(replacement)) visit(replacement)
    else visitFields(replacement)
  }

  function visitItems(items: readonly unknown[]): void {
    write('[')
    for (let index = 0; index < items.length; index++) {
      if (index > 0) write(',')
      path.push(index)
      visit(items[index])
      path.pop()
    }
    write(']')
  }

  function visitFields(source: object): void {
    const kind = Object.prototype.toString.call(source)
    if (kind !== '[object Object]') return refuse(`an object of type ${kind.slice('[object '.length, -1)}`)
    write('{')
    let isFirst = true
    for (const key of Object.keys(source)) {
      const item: unknown = source[key as keyof typeof source]
      if (item === undefined) continue
      if (!isFirst) write(',')
      isFirst = false
      writeQuoted(key)
      write(':')
      path.push(key)
      visit(item)
      path.pop()
    }
    write('}')
  }

  visit(value)
  return { text, lengthChars }
}

/** An object that says itself what stands for it in JSON. */
interface Replaced {
  toJSON(key: string): unknown
}
