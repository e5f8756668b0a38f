import { lazily } from './lazily.ts'

/** Loaded on use: it takes longer to load than the whole package, and many programs never hash. */
const crypto = lazily(() => process.getBuiltinModule('node:crypto'))

export function sha256(text: string): string {
  return crypto().hash('sha256', text)
}

/** SHA-256 of lines, each with a line break behind it. */
export class LinesHash {
  readonly #hash = crypto().createHash('sha256')

  add(line: string): void {
    this.#hash.update(line).update('\n')
  }

  /** In hex. Ends the hash. */
  end(): string {
    return this.#hash.digest('hex')
  }
}
