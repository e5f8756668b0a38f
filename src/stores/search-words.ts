/** More of them make a search slower than they make it better. */
const maxWords = 64

/** The words of a text that somebody typed: runs of letters, marks and digits, each once whatever its case. */
export function searchWords(query: string): readonly string[] {
  const words = query.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? []
  return [...new Map(words.map((word) => [word.toLowerCase(), word])).values()].slice(0, maxWords)
}
