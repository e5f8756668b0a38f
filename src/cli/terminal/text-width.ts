const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })
const plain = /^[\x20-\x7e]*$/
const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u

/** How many columns a text takes on a terminal. */
export function textWidth(text: string): number {
  if (plain.test(text)) return text.length
  let width = 0
  for (const { segment } of characters.segment(text)) width += wide.test(segment) ? 2 : 1
  return width
}

/** A text in at most so many columns, with `…` where it was cut. */
export function cutToWidth(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text
  let cut = ''
  let width = 1
  for (const { segment } of characters.segment(text)) {
    width += textWidth(segment)
    if (width > columns) break
    cut += segment
  }
  return columns < 1 ? '' : `${cut}…`
}
