import { appendFileSync, chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../../stores/files.ts'

/** Longer texts were pasted, and are not kept. */
const maxLineChars = 10_000
/** Lines that are offered again. */
const maxLines = 1_000
/** Lines after which the file is written anew with the newest. */
const maxStoredLines = 5_000

/** For its owner alone. */
const fileMode = 0o600

/**
 * What looks like a secret in a typed line: keys and tokens by the forms that their issuers give them, private keys, passwords in
 * URLs, and values of names that say what they are.
 */
const secrets: readonly RegExp[] = [
  // Anthropic, OpenAI, Stripe, Moonshot and others.
  /\b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9]{16,}/,
  /\bsk-[\w-]{20,}/,
  /\bgh[oprsu]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}/,
  /\bglpat-[\w-]{16,}/,
  /\bnpm_[A-Za-z0-9]{20,}|\bpypi-[\w-]{20,}|\bhf_[A-Za-z0-9]{20,}|\btvly-[\w-]{16,}/,
  /\bxox[abeoprs]-[\w-]{10,}|\bxapp-[\w-]{10,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}/,
  // JSON web tokens.
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i,
  /\b(?:authorization|proxy-authorization)\s*[:=]\s*\S+/i,
  /\bbearer\s+[\w.~+/-]{16,}/i,
  /\b[\w-]*(?:password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credentials?)[\w-]*["']?\s*[:=]\s*["']?[^\s"']{4,}/i,
  /\b(?:pass(?:word|phrase)?|pwd)\s+(?:is|ist|lautet)\s+\S+/i,
  /(?:^|\s)--?(?:password|passwd|token|secret|api-key)[ =]\S+/i,
]

/**
 * What the user typed in earlier chats, in a file with a JSON text a line, which only its owner can read. Lines that seem to have
 * a secret in them are not kept. A file that cannot be used is no error.
 */
export class LineHistory {
  readonly #path: string
  #canWrite = true

  constructor(path: string) {
    this.#path = path
  }

  /** Newest first. */
  read(): readonly string[] {
    this.#tighten()
    const lines = this.#stored()
    if (lines.length > maxStoredLines) this.#write(lines.slice(-maxLines))
    return [...new Set(lines.slice(-maxLines).toReversed())]
  }

  add(line: string): void {
    if (line.length > maxLineChars || hasSecret(line)) return
    this.#try(() => {
      makeFolder(dirname(this.#path))
      appendFileSync(this.#path, `${JSON.stringify(line)}\n`, { mode: fileMode })
    })
  }

  /** A copy, or another program, may have left it readable to others. */
  #tighten(): void {
    if (process.platform === 'win32') return
    this.#try(() => {
      const stats = statSync(this.#path, { throwIfNoEntry: false })
      if (stats?.isFile() === true && (stats.mode & 0o077) !== 0) chmodSync(this.#path, fileMode)
    })
  }

  #stored(): string[] {
    try {
      return readFileSync(this.#path, 'utf8').split('\n').flatMap(textOf)
    } catch {
      return []
    }
  }

  #write(lines: readonly string[]): void {
    this.#try(() => {
      const beside = `${this.#path}.${process.pid}`
      writeFileSync(beside, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: fileMode })
      renameSync(beside, this.#path)
    })
  }

  #try(write: () => void): void {
    if (!this.#canWrite) return
    try {
      write()
    } catch {
      this.#canWrite = false
    }
  }
}

/** A torn or foreign line is none. */
function textOf(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' ? [value] : []
  } catch {
    return []
  }
}

/** Does a text have something in it that looks like a secret? */
function hasSecret(text: string): boolean {
  return secrets.some((pattern) => pattern.test(text))
}
