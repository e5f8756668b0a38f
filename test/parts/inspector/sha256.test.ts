import { describe, expect, it } from 'vitest'
import * as ofPage from '../../../src/inspector/page/data/sha256.ts'
import * as ofNode from '../../../src/base/sha256.ts'

describe("the page's SHA-256", () => {
  it('is that of Node, of short and long lines, of any letters and of half a surrogate', () => {
    const lines = [
      '',
      'a',
      'ß 漢 🐝',
      'half \ud83d',
      '\udd1d the other half',
      'long '.repeat(40_000),
      'z'.repeat(65_536),
    ]
    const [page, node] = [new ofPage.LinesHash(), new ofNode.LinesHash()]
    for (let round = 0; round < 3; round++) {
      for (const line of lines) {
        page.add(line)
        node.add(line)
        expect(ofPage.sha256(line)).toBe(ofNode.sha256(line))
      }
    }
    expect(page.end()).toBe(node.end())
  })
})
