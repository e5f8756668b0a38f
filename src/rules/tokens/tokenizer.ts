/** What of the tokenizer is needed here. */
type O200k = Pick<typeof import('#o200k'), 'clearMergeCache' | 'countTokens' | 'setMergeCacheSize'>

/** The time that a piece without a space takes grows with the square of its length. */
const maxPieceChars = 1_024
/** Runs of characters that come again within a text are merged once. Thousands of them would take longer to look up. */
const maxMerged = 1_000
/** Text that spells a special token is text. */
const asText = { disallowedSpecial: new Set<string>() }

/** Counts the tokens of a text; `undefined` until the first use. */
let counter: ((text: string) => number) | undefined

/**
 * The tokens of a text by the vocabulary o200k. The tokenizer is loaded when it is first needed, in the midst of a tick if
 * `loadTokenizer` was not called before. If it cannot be loaded, a token is four characters from then on.
 */
export function countTokens(text: string): number {
  if (text === '') return 0
  counter ??= countedBy(required())
  return counter(text)
}

/** Loads the tokenizer ahead of its first use, which takes more than 100 ms. Never rejects. */
export async function loadTokenizer(): Promise<void> {
  if (counter !== undefined) return
  const o200k = await import('#o200k').catch(() => undefined)
  counter ??= countedBy(o200k)
}

/** Whose count it is: `chars/4` once the tokenizer could not be loaded. Loads nothing itself. */
export function tokenizerName(): 'o200k' | 'chars/4' {
  return counter === countCharacters ? 'chars/4' : 'o200k'
}

/** A tick cannot wait for `import()`. */
function required(): O200k | undefined {
  try {
    const require = process.getBuiltinModule('node:module').createRequire(import.meta.url)
    return require('#o200k') as O200k
  } catch {
    return undefined
  }
}

function countedBy(o200k: O200k | undefined): (text: string) => number {
  if (o200k === undefined) return countCharacters
  o200k.setMergeCacheSize(maxMerged)
  return (text) => {
    let tokens = 0
    for (let from = 0; from < text.length;) {
      const to = pieceEnd(text, from)
      tokens += o200k.countTokens(text.slice(from, to), asText)
      from = to
    }
    // What is remembered of a text would keep all of it in memory.
    o200k.clearMergeCache()
    return tokens
  }
}

function pieceEnd(text: string, from: number): number {
  const to = from + maxPieceChars
  if (to >= text.length) return text.length
  return isHighSurrogate(text.charCodeAt(to - 1)) && isLowSurrogate(text.charCodeAt(to)) ? to - 1 : to
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

function countCharacters(text: string): number {
  return Math.ceil(text.length / 4)
}
