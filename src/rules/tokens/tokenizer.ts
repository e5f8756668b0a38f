type O200k = Pick<typeof import('#o200k'), 'clearMergeCache' | 'countTokens' | 'setMergeCacheSize'>

import { wholeEnd } from '../../base/cut-text.ts'

/** The time for a piece without a space grows with the square of its length. */
const maxPieceChars = 1_024
/** Repeated runs of characters in a text are merged once. Looking up thousands would take longer. */
const maxMerged = 1_000
/** Text that spells a special token is text. */
const asText = { disallowedSpecial: new Set<string>() }

/** `undefined` until the first use. */
let counter: ((text: string) => number) | undefined

/**
 * Counts a text's tokens in the o200k vocabulary. Loads the tokenizer when first needed, inside a tick unless
 * `loadTokenizer` was called. If it cannot be loaded, four characters count as a token from then on.
 */
export function countTokens(text: string): number {
  if (text === '') return 0
  counter ??= countedBy(required())
  return counter(text)
}

/** Loads the tokenizer ahead of its first use, which takes over 100 ms. Never rejects. */
export async function loadTokenizer(): Promise<void> {
  if (counter !== undefined) return
  const o200k = await import('#o200k').catch(() => undefined)
  counter ??= countedBy(o200k)
}

/** What counts: `chars/4` if the tokenizer could not be loaded. Does not load it. */
export function tokenizerName(): 'o200k' | 'chars/4' {
  return counter === countCharacters ? 'chars/4' : 'o200k'
}

/** A tick cannot await `import()`. */
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
      const to = from + maxPieceChars < text.length ? wholeEnd(text, from + maxPieceChars) : text.length
      tokens += o200k.countTokens(text.slice(from, to), asText)
      from = to
    }
    // What is remembered of a text would keep all of it in memory.
    o200k.clearMergeCache()
    return tokens
  }
}

function countCharacters(text: string): number {
  return Math.ceil(text.length / 4)
}
