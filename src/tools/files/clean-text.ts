import { stripVTControlCharacters } from 'node:util'

/** A text without NUL, terminal codes and other control characters; tabs and line breaks stay. */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text).replace(/(?![\t\n])\p{Cc}/gu, '')
}

/** The name of a file on one line: a line break in it cannot pass for the next entry. */
export function cleanName(name: string): string {
  return cleanText(name).replace(/[\t\n]/g, '?')
}
