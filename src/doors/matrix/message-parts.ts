/** Bytes of one message: an event may have 65,536, and JSON makes the text longer. */
export const maxMessageBytes = 30_000

/**
 * A text in parts that each fit into a message, cut behind line ends where there are some, never within a character. The parts in
 * a row are the text.
 */
export function messageParts(text: string): readonly string[] {
  const whole = text.toWellFormed()
  if (weightOf(whole) <= maxMessageBytes) return [whole]
  const parts: string[] = []
  let [part, weight] = ['', 0]
  const add = (piece: string, pieceWeight: number): void => {
    if (weight + pieceWeight > maxMessageBytes) {
      if (part !== '') parts.push(part)
      ;[part, weight] = ['', 0]
    }
    part += piece
    weight += pieceWeight
  }
  for (const line of whole.split(/(?<=\n)/)) {
    const lineWeight = weightOf(line)
    if (lineWeight <= maxMessageBytes) add(line, lineWeight)
    else for (const char of line) add(char, weightOf(char))
  }
  return part === '' ? parts : [...parts, part]
}

/** Its bytes; of text that JSON writes more than twice as long, such as control characters, more. */
function weightOf(text: string): number {
  return Math.max(Buffer.byteLength(text), Math.ceil((Buffer.byteLength(JSON.stringify(text)) - 2) / 2))
}
