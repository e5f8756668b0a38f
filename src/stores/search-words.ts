/** More of them make a search slower than they make it better. */
const maxWords = 64

/** A letter of a script that puts no blanks between its words, or between a word and what is hung on it. */
const unspaced =
  '[[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Bopo}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]&&[\\p{L}\\p{N}]]\\p{M}*'
const oneUnspaced = new RegExp(unspaced, 'gv')
const runs = new RegExp(`(?:${unspaced})+|(?:(?!${unspaced}).)+`, 'gsv')

/**
 * The words of a text that somebody typed: runs of letters, marks and digits, each once whatever its case. Where a script
 * puts no blanks between words, their ends are not known: there each two letters that stand side by side are one, with a
 * blank between them.
 */
export function searchWords(query: string): readonly string[] {
  const words = query.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? []
  const all = words.flatMap((word) => [word, ...partsOf(word)])
  return [...new Map(all.map((word) => [word.toLowerCase(), word])).values()].slice(0, maxWords)
}

/** A text as it is indexed: where a script puts no blanks between words, each letter is found by itself. */
export function indexedWords(text: string): string {
  return text.replace(oneUnspaced, ' $& ')
}

function partsOf(word: string): readonly string[] {
  const parts = word.match(runs) ?? []
  return parts.flatMap((part) => {
    const letters = part.match(oneUnspaced)
    if (letters === null) return part
    return letters.length === 1 ? letters : letters.slice(1).map((letter, index) => `${letters[index]} ${letter}`)
  })
}
