/** The last lines of a terminal, which are drawn over: the control codes for it. No line is wider than the terminal. */
export class LiveRegion {
  #drawn: readonly string[] = []

  /** Draws lines in place of those that are drawn; empty if they are the same. */
  redrawn(lines: readonly string[]): string {
    const before = this.#drawn
    if (lines.length === before.length && lines.every((line, index) => line === before[index])) return ''
    // Line by line, so that nothing flickers.
    const text = lines.map((line) => `${line}\u001b[K`).join('\n')
    const top = this.#toTop()
    this.#drawn = lines
    return `${top}${text}${before.length > 0 ? '\u001b[J' : ''}`
  }

  /** Writes whole lines above, for good, and draws the lines below them. */
  pushedDown(text: string, lines: readonly string[]): string {
    if (text === '') return this.redrawn(lines)
    const clear = this.#drawn.length > 0 ? `${this.#toTop()}\u001b[J` : ''
    this.#drawn = lines
    return clear + text + lines.join('\n')
  }

  /** Draws the whole terminal anew: where its size has changed nobody knows what stands where. */
  repainted(text: string, lines: readonly string[]): string {
    this.#drawn = lines
    return `\u001b[H\u001b[J${text}${lines.join('\n')}`
  }

  /** From the end of the last line, where the cursor is. */
  #toTop(): string {
    return this.#drawn.length > 1 ? `\r\u001b[${this.#drawn.length - 1}A` : '\r'
  }
}
