import { statSync } from 'node:fs'

/** Tells whether a path still leads to the file that it led to before: by device and inode, which costs one `stat`. */
export class FileIdentity {
  readonly path: string
  readonly #device: number | undefined
  readonly #inode: number | undefined

  constructor(path: string) {
    this.path = path
    const { dev, ino } = statSync(path, { throwIfNoEntry: false }) ?? {}
    this.#device = dev
    this.#inode = ino
  }

  get isInPlace(): boolean {
    const found = statSync(this.path, { throwIfNoEntry: false })
    return found !== undefined && found.ino === this.#inode && found.dev === this.#device
  }
}
