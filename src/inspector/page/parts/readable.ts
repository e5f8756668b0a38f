/** Text that anyone can read, whatever it holds: signs that are not seen, or that turn others around, are written out. */
export function readable(text: string): string {
  if (!odd.test(text)) return text
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(unseen, (sign) => String.raw`\u` + sign.charCodeAt(0).toString(16).padStart(4, '0'))
    .replaceAll(turns, (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
}

/** Controls, and halves of pairs. */
const unseen =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
/** They change the direction of the text behind them, or are not seen. */
const turns = /[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g
// oxlint-disable-next-line no-control-regex
const odd = /[\u0000-\u0008\u000b-\u001f\u007f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]/

/** A stretch of a terminal's text, with how it is to be shown: class names such as `ansi-31 ansi-1`. */
export interface Styled {
  readonly text: string
  readonly style: string
}

// oxlint-disable-next-line no-control-regex
const graphics = /\u001b\[([\d;]*)m/g

/** A terminal's text, with its colours as styles. Other codes of it are written out. */
export function styled(text: string): readonly Styled[] {
  if (!text.includes('\u001b[')) return [{ text: readable(text), style: '' }]
  const parts: Styled[] = []
  let style = new Set<string>()
  let from = 0
  const add = (to: number) => {
    if (to > from) parts.push({ text: readable(text.slice(from, to)), style: [...style].join(' ') })
  }
  for (const match of text.matchAll(graphics)) {
    add(match.index)
    from = match.index + match[0].length
    style = styledBy(style, match[1] ?? '')
  }
  add(text.length)
  return parts
}

function styledBy(before: ReadonlySet<string>, codes: string): Set<string> {
  const now = new Set(before)
  const numbers = codes.split(';').map(Number)
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] as number
    // A colour of 256 or of 16 million takes the numbers behind it, and is shown as plain.
    if (code === 38 || code === 48) at += numbers[at + 1] === 5 ? 2 : 4
    if (code === 0) now.clear()
    else if (code === 22) now.delete('ansi-1')
    else if (code === 1) now.add('ansi-1')
    else if ((code >= 30 && code <= 39) || (code >= 90 && code <= 97)) {
      for (const one of now) if (one !== 'ansi-1') now.delete(one)
      if (code < 38 || code > 39) now.add(`ansi-${code >= 90 ? code - 60 : code}`)
    }
  }
  return now
}
