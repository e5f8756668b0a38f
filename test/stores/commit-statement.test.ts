import { describe, expect, it } from 'vitest'
import { commitStatement, type WorldChange } from '../../src/stores/postgres/commit-statement.ts'

const place = { schema: 'entia', channel: 'news', worker: 1 }
const post = { root: 'b', world: 'b', line: 'x', id: undefined }
const text = { place: 'c', root: 'b', text: 'x' }

/** What a statement may have in it, each of which is there or not. */
const parts = ['rows', 'snapshots', 'taken', 'sent', 'letters', 'texts', 'world', 'second'] as const

function statementOf(has: ReadonlySet<(typeof parts)[number]>) {
  const world = (id: number): WorldChange => ({
    id,
    epoch: 1,
    commits: 0,
    place: 'a',
    tick: 1,
    oldest: 0,
    newest: 0,
    isBusy: true,
    rows: has.has('rows') ? [{ tick: 1, line: 'x' }] : [],
    snapshots: has.has('snapshots') ? [{ tick: 1, lines: ['x'] }] : [],
    dropped: has.has('snapshots') ? { after: 0, before: 1, rowsTo: 1 } : undefined,
    taken: has.has('taken') ? [1] : [],
    sent: has.has('sent') ? [post] : [],
  })
  const worlds = [...(has.has('world') ? [world(1)] : []), ...(has.has('second') ? [world(2)] : [])]
  const letters = has.has('letters') ? [post] : []
  return commitStatement({ worlds, letters, texts: has.has('texts') ? [text] : [] }, place, { sender: 's', number: 1 })
}

describe('a statement that commits', () => {
  it('has the same text under the same name, whatever goes into it, as a connection keeps one plan a name', () => {
    const texts = new Map<string, Set<string>>()
    for (let combination = 1; combination < 2 ** parts.length; combination++) {
      const has = new Set(parts.filter((_, bit) => (combination & (1 << bit)) !== 0))
      if (!['letters', 'second', 'texts', 'world'].some((part) => has.has(part as never))) continue
      const { name = '', text: written } = statementOf(has)
      texts.set(name, (texts.get(name) ?? new Set()).add(written))
    }
    expect(texts.size).toBeGreaterThan(30)
    expect([...texts].filter(([, written]) => written.size > 1).map(([name]) => name)).toEqual([])
  })
})
