/**
 * The first `maxChars` characters of a text that is longer, never half a surrogate pair. Every text that is shortened is
 * cut here.
 *
 * @param mark stands at the end of a text that was cut, and counts as part of it
 */
export function cutText(text: string, maxChars: number, mark = ''): string {
  if (text.length <= maxChars) return text
  return text.slice(0, wholeEnd(text, Math.max(0, maxChars - mark.length))) + mark
}

/** The last `maxChars` characters of a text that is longer, never half a surrogate pair. */
export function cutStart(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : text.slice(wholeStart(text, text.length - maxChars))
}

/** A text of at most `maxChars` characters stays as it is; a longer one keeps half of that at each end, and says how much is gone. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const kept = Math.floor(maxChars / 2)
  const [begin, end] = [wholeEnd(text, kept), wholeStart(text, text.length - kept)]
  return `${text.slice(0, begin)}[... ${end - begin} characters left out ...]${text.slice(end)}`
}

/** The same index, or the one before it where it parts the halves of a character. */
function wholeEnd(text: string, index: number): number {
  return isHighSurrogate(text.charCodeAt(index - 1)) ? index - 1 : index
}

/** The same index, or the one behind it where it parts the halves of a character. */
function wholeStart(text: string, index: number): number {
  return isHighSurrogate(text.charCodeAt(index - 1)) ? index + 1 : index
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
