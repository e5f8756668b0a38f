import type { BigIntStats } from 'node:fs'

/** Which version of each file a chat session has seen: last read, or written by itself. */
export class FileTimes {
  readonly #seen = new Map<string, string>()

  /** @param realPath absolute, with no link in it */
  note(realPath: string, stats: BigIntStats): void {
    this.#seen.set(realPath, versionOf(stats))
  }

  /** Whether a file that was seen is another one now. A file that was never seen has not changed. */
  hasChanged(realPath: string, stats: BigIntStats): boolean {
    const seen = this.#seen.get(realPath)
    return seen !== undefined && seen !== versionOf(stats)
  }
}

function versionOf({ mtimeNs, ctimeNs, size, ino }: BigIntStats): string {
  return [mtimeNs, ctimeNs, size, ino].join(' ')
}
