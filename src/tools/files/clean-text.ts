import { stripVTControlCharacters } from 'node:util'

/** Removes terminal codes and control characters except tabs and line breaks. All else stays as it is. */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text).replace(/(?![\t\n])\p{Cc}/gu, '')
}

/** Characters that no font draws and that turn the direction of writing, except what joins and varies the letters of words. */
const hidden =
  /(?!\u034F|\u115F|\u1160|\u17B4|\u17B5|[\u180B-\u180D]|\u180F|\u200C|\u200D|\u3164|[\uFE00-\uFE0F]|\uFFA0)\p{Default_Ignorable_Code_Point}|[\uFFF9-\uFFFB]/gu

/**
 * Text of others for a terminal or a prompt: nothing in it acts on the terminal, hides, or turns the direction of writing.
 * Tabs and line breaks stay.
 */
export function plainText(text: string): string {
  return cleanText(text)
    .replaceAll(/[\u2028\u2029]/g, ' ')
    .replaceAll(hidden, '')
}

/** Keeps a name on one line: a line break in it cannot pass for the next entry. */
export function cleanName(name: string): string {
  return plainText(name).replaceAll(/[\t\n]/g, '?')
}

const carets = Array.from({ length: 32 }, (_, code) => `^${String.fromCharCode(64 + code)}`)

/** What a terminal acts on, what shows as nothing or as a blank that is none, and what has no meaning that all know. */
const unseen =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800\uFFFC\u{13441}\u{13442}\u{1D159}]/gu

/**
 * Text that a person decides about: what a terminal would act on or not show is there as `^[` or `<U+202E>`. Line breaks and
 * tabs stay.
 */
export function visibleText(text: string): string {
  return text.replaceAll(unseen, (sign, at: number) => {
    // The picture before it is shown in colours.
    if (sign === '\uFE0F' && /\p{Extended_Pictographic}$/u.test(text.slice(Math.max(0, at - 2), at))) return sign
    const code = sign.codePointAt(0) ?? 0
    return code === 0x7f ? '^?' : (carets[code] ?? `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`)
  })
}
