/**
 * The first `maxChars` characters of a longer text, never half a surrogate pair.
 * @param mark ends a text that was cut, and counts as part of it
 */
export function cutText(text: string, maxChars: number, mark = ''): string {
  if (text.length <= maxChars) return text
  return text.slice(0, wholeEnd(text, Math.max(0, maxChars - mark.length))) + mark
}

/** The last `maxChars` characters of a longer text, never half a surrogate pair. */
export function cutStart(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : text.slice(wholeStart(text, text.length - maxChars))
}

/** Keeps half of `maxChars` at each end of a longer text, and says how much was left out between. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const kept = Math.floor(maxChars / 2)
  const [begin, end] = [wholeEnd(text, kept), wholeStart(text, text.length - kept)]
  return `${text.slice(0, begin)}[... ${end - begin} characters left out ...]${text.slice(end)}`
}

/** The index, or the one before if it splits a surrogate pair. */
export function wholeEnd(text: string, index: number): number {
  return isHighSurrogate(text.charCodeAt(index - 1)) ? index - 1 : index
}

/** The index, or the one behind if it splits a surrogate pair. */
function wholeStart(text: string, index: number): number {
  return isHighSurrogate(text.charCodeAt(index - 1)) ? index + 1 : index
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
