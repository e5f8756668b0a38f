import { Writable } from 'node:stream'

/** What a command writes: into a pipe, or on a terminal of so many columns. */
export class Output extends Writable {
  text = ''
  readonly isTTY: boolean
  readonly columns?: number

  constructor(columns?: number) {
    super()
    this.isTTY = columns !== undefined
    if (columns !== undefined) this.columns = columns
  }

  getColorDepth(): number {
    return 8
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}
