import { describe, expect, it } from 'vitest'
import { collapsed, oneLine } from '../../src/base/one-line.ts'

describe('a text on one line', () => {
  it('has a space for each line break, of any kind', () => {
    expect(oneLine('a\nb\r\nc\rd\ve\ff\x85g\u2028h\u2029i')).toBe('a b c d e f g h i')
  })

  it('keeps its blanks, or has one space for all of them', () => {
    expect(oneLine('a  b\t\n')).toBe('a  b\t ')
    expect(collapsed(' a  b\t\n\nc ')).toBe('a b c')
  })
})
