/** Words that say nothing about what is asked. */
const stopWords = new Set(
  `a about after all also an and another any are as at be been before but by can could describe did do does each every explain file files find folder
  for from get gets give had happen happened happening happens has have he her his how i if in into is it its like list long
  make makes many may me mean means might much must my no not of on one or our out over own please project s say says she
  should show so some t tell than that the their them then there these they this those to up us use used using was we
  were what when where which while who whose why will with work works would you your`.split(/\s+/),
)

/** Most words that are searched for. */
const maxWords = 6

/** A word of a question, and the beginning that its forms share. */
export interface QuestionWord {
  readonly word: string
  readonly stem: string
}

/** The words of a question that are worth a search, in its order. */
export function questionWords(question: string): QuestionWord[] {
  const words = new Map<string, QuestionWord>()
  for (const [token] of question.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const word = token.toLowerCase()
    if (stopWords.has(word) || (word.length < 2 && /^[\w]$/.test(word))) continue
    const stem = stemOf(word)
    if (!words.has(stem)) words.set(stem, { word, stem })
  }
  return [...words.values()].slice(0, maxWords)
}

/** A regular expression for lines that have a form of the word. */
export function wordPattern({ stem }: QuestionWord): string {
  return /^\w/.test(stem) ? String.raw`\b${stem}` : stem
}

/** Whether a text has a form of the word. */
export function hasWord(text: string, word: QuestionWord): boolean {
  return new RegExp(wordPattern(word), 'iu').test(text)
}

/** `killed`, `kills` and `killing` as `kill`; `stopped` as `stop`. English alone, and only where enough is left. */
function stemOf(word: string): string {
  const bare = /^(.{3,}?)(?:ing|ed|ies|(?<=[sxz]|[cs]h)es|(?<!s)s)$/.exec(word)?.[1] ?? word
  return bare !== word && /([bdgmnprt])\1$/.test(bare) ? bare.slice(0, -1) : bare
}
