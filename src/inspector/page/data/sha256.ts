import { sha256 as digest } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'

// Stands for `src/base/sha256.ts` in a browser, which has no SHA-256 that answers at once.

const encoder = new TextEncoder()
/** Lines are put together to so many characters: encoding each by itself takes longer than hashing it. */
const maxWaitingChars = 65_536

export function sha256(text: string): string {
  return bytesToHex(digest(encoder.encode(text)))
}

/** SHA-256 of lines, each with a line break behind it. */
export class LinesHash {
  readonly #hash = digest.create()
  #waiting = ''

  add(line: string): void {
    this.#waiting += `${line}\n`
    if (this.#waiting.length > maxWaitingChars) this.#flush()
  }

  /** In hex. Ends the hash. */
  end(): string {
    this.#flush()
    return bytesToHex(this.#hash.digest())
  }

  #flush(): void {
    this.#hash.update(encoder.encode(this.#waiting))
    this.#waiting = ''
  }
}
