import { stripVTControlCharacters } from 'node:util'

/** Removes terminal codes and control characters except tabs and line breaks. */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text).replace(/(?![\t\n])\p{Cc}/gu, '')
}

/** Keeps a name on one line: a line break in it cannot pass for the next entry. */
export function cleanName(name: string): string {
  return cleanText(name).replace(/[\t\n]/g, '?')
}
