import { describe, expect, it } from 'vitest'
import { cleanName, cleanText, plainText, visibleText } from '../../src/tools/files/clean-text.ts'

/** What a program of others may send to a terminal. */
const codes = {
  'the clipboard': '\u001b]52;c;cm0gLXJmIH4=\u0007',
  'a title': '\u001b]0;root@host\u001b\\',
  'a link': '\u001b]8;;http://evil.example\u0007here\u001b]8;;\u0007',
  'a cleared screen': '\u001b[2J\u001b[H',
  'hidden text': '\u001b[8m',
  'a report': '\u001b[6n',
  'a device control': '\u001bP+q544e\u001b\\',
  'a cut sequence': '\u001b[38;5',
  'an eighth bit': '\u009b31m\u009d0;x\u0007',
  'a carriage return': 'safe\rrm -rf',
  'a backspace': 'ab\b\b',
}

describe('text of others', () => {
  it.for(Object.entries(codes))('has no code left for %s', ([, code]) => {
    for (const clean of [cleanText, plainText, cleanName, visibleText]) {
      expect(clean(`a${code}b`)).not.toMatch(/\p{Cc}/u)
    }
  })

  it('keeps tabs and line breaks, and a name stays on one line', () => {
    expect(plainText('a\tb\n\u001b[1mc')).toBe('a\tb\nc')
    expect(cleanName('a\tb\nc')).toBe('a?b?c')
    expect(cleanName('a\u2028b')).toBe('a b')
  })

  it('has no signs that hide, or that turn the direction of writing', () => {
    const hidden =
      '\u061C\u180E\u200B\u200E\u200F\u202A\u202E\u2060\u2066\u2069\uFEFF\uFFF9\u{E0001}\u{E0041}\u{E01EF}\u00AD'
    expect(plainText(`a${hidden}b`)).toBe('ab')
    // What a file holds is not the terminal's: an edit has to find it again.
    expect(cleanText(`a${hidden}b`)).toBe(`a${hidden}b`)
  })

  it.for(['می‌خواهم', '👨‍👩‍👧 ❤️ 1️⃣', '葛󠄀'.slice(0, 1), 'ᠮᠣᠩᠭᠣᠯ ᠤᠨ', '한ᅠ글', 'क्‍ष'])(
    'keeps what joins and varies the letters of %s',
    (text) => {
      expect(plainText(text)).toBe(text)
    },
  )
})

describe('text that a person decides about', () => {
  it.for([
    ['\u3164', '<U+3164>'],
    ['\u2800', '<U+2800>'],
    ['\u115F\u1160\uFFA0', '<U+115F><U+1160><U+FFA0>'],
    ['\u00A0\u2003\u3000', '<U+00A0><U+2003><U+3000>'],
    ['\u00AD\u034F\u180B', '<U+00AD><U+034F><U+180B>'],
    ['\u{E0041}\u{E01EF}', '<U+E0041><U+E01EF>'],
    ['\uE000\uFDD0\uD800', '<U+E000><U+FDD0><U+D800>'],
    ['\u{1D159}\u{13441}', '<U+1D159><U+13441>'],
    ['x\uFE0F', 'x<U+FE0F>'],
    ['\u0000\u001b\u007f\u009b', '^@^[^?<U+009B>'],
  ] as const)('shows %j', ([given, shown]) => {
    expect(visibleText(`rm${given}-rf`)).toBe(`rm${shown}-rf`)
  })

  it('leaves letters of all languages, signs and pictures as they are', () => {
    const text = 'rm -rf ./ä ñ 中文 العربية ไทย 😀 ❤️ – “x” €\n\tend'
    expect(visibleText(text)).toBe(text)
  })
})
