/** A text on one line: each line break becomes a space. */
export function oneLine(text: string): string {
  return text.replaceAll(/\r\n|[\n\v\f\r\x85\u2028\u2029]/g, ' ')
}

/** A text on one line, with one space where there were blanks or line breaks, and none at its ends. */
export function collapsed(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
