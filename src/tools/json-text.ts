import { maxDepth } from '../world/canonical.ts'
import { valuePath } from '../rules/text/schema-issues.ts'

/** The start of a value's compact JSON, and its full length. */
export interface JsonText {
  readonly text: string
  readonly lengthChars: number
}

/** JSON cannot express a part of a value. The message names it and its path. */
export class NotJson extends Error {
  override readonly name = 'NotJson'
}

/** Needs no escape in JSON. Cheaper to test, over millions of short texts, than to quote them. */
const plainText = /^[ !#-[\]-\ud7ff]*$/

/**
 * Like `JSON.stringify`, but keeps only the first characters of a huge value, and refuses what `JSON.stringify` silently drops
 * or turns into `null` or `{}`. Class instances count by their fields; built-in ones need a `toJSON`. Keys with `undefined` are
 * dropped.
 *
 * @throws NotJson
 */
export function jsonText(value: unknown, maxChars: number): JsonText {
  const writer = new JsonWriter(maxChars)
  writer.value(value)
  return writer
}

class JsonWriter implements JsonText {
  readonly #maxChars: number
  readonly #path: PropertyKey[] = []
  text = ''
  lengthChars = 0

  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  value(value: unknown): void {
    if (typeof value === 'string') this.#quoted(value)
    else if (typeof value === 'number')
      this.#piece(Number.isFinite(value) ? String(value) : this.#refuse(String(value)))
    else if (typeof value === 'boolean' || value === null) this.#piece(String(value))
    else if (typeof value === 'object') this.#object(value)
    else this.#refuse(value === undefined ? 'undefined' : `a ${typeof value}`)
  }

  #object(value: object): void {
    if (this.#path.length >= maxDepth) {
      this.#path.length = 3
      this.#refuse(`nested more than ${maxDepth} levels deep, or holds itself`)
    }
    if (Array.isArray(value)) this.#items(value)
    else if ('toJSON' in value && typeof value.toJSON === 'function') this.#replacement(value as Replaced)
    else this.#fields(value)
  }

  /** The result of `toJSON` is not asked for its own `toJSON`. */
  #replacement(value: Replaced): void {
    if (value instanceof Date && Number.isNaN(value.getTime())) this.#refuse('an invalid Date')
    const replacement = value.toJSON(String(this.#path.at(-1) ?? ''))
    if (typeof replacement !== 'object' || replacement === null || Array.isArray(replacement)) this.value(replacement)
    else this.#fields(replacement)
  }

  #items(items: readonly unknown[]): void {
    this.#piece('[')
    for (let index = 0; index < items.length; index++) {
      if (index > 0) this.#piece(',')
      this.#path.push(index)
      this.value(items[index])
      this.#path.pop()
    }
    this.#piece(']')
  }

  #fields(source: object): void {
    const kind = Object.prototype.toString.call(source)
    if (kind !== '[object Object]') this.#refuse(`an object of type ${kind.slice('[object '.length, -1)}`)
    this.#piece('{')
    let isFirst = true
    for (const key of Object.keys(source)) {
      const item: unknown = source[key as keyof typeof source]
      if (item === undefined) continue
      if (!isFirst) this.#piece(',')
      isFirst = false
      this.#quoted(key)
      this.#piece(':')
      this.#path.push(key)
      this.value(item)
      this.#path.pop()
    }
    this.#piece('}')
  }

  #quoted(text: string): void {
    if (this.lengthChars >= this.#maxChars && plainText.test(text)) this.lengthChars += text.length + 2
    else this.#piece(JSON.stringify(text))
  }

  #piece(piece: string): void {
    if (this.lengthChars < this.#maxChars) this.text += piece.slice(0, this.#maxChars - this.lengthChars)
    this.lengthChars += piece.length
  }

  #refuse(what: string): never {
    throw new NotJson(this.#path.length === 0 ? `it is ${what}` : `${valuePath(this.#path)} is ${what}`)
  }
}

interface Replaced {
  toJSON(key: string): unknown
}
