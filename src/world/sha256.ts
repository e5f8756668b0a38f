import { lazily } from './lazily.ts'

/** Not imported: it takes longer to load than all of the package, and many programs never hash. */
const crypto = lazily(() => process.getBuiltinModule('node:crypto'))

/** SHA-256 of a text, in hex. */
export function sha256(text: string): string {
  return crypto().hash('sha256', text)
}

/** SHA-256 of lines as they come, each with a line break behind it. */
export class LinesHash {
  readonly #hash = crypto().createHash('sha256')

  add(line: string): void {
    this.#hash.update(line).update('\n')
  }

  /** In hex. Nothing can be added from then on. */
  end(): string {
    return this.#hash.digest('hex')
  }
}
