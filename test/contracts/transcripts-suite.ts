import type { Store, TranscriptLine } from 'entia/stores'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StorePlace } from './stores-suite.ts'

const key = 'agents/subagent-1/sessions/1.jsonl'
const other = 'agents/subagent-2/sessions/2.jsonl'

/** Lines by their numbers, each with a word of its own. */
function lines(from: number, to: number): TranscriptLine[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    text: `{"line":${from + index}}`,
    searchable: `line number${from + index}`,
  }))
}

function texts(from: number, to: number): string[] {
  return lines(from, to).map(({ text }) => text)
}

/** A line that is found by these words. */
function said(searchable: string): TranscriptLine {
  return { text: JSON.stringify({ said: searchable }), searchable }
}

/** What holds of transcripts in every store. */
export function describeTranscripts(places: readonly StorePlace[]): void {
  describe.each(places)('a store in $name', ({ make }) => {
    let store: Store
    beforeEach(async () => {
      store = await make()
    })
    afterEach(() => store.close())

    async function found(query: string, keys = [key], limit = 100): Promise<string[]> {
      return (await store.searchTranscript('root', keys, query, { limit })).map(({ text }) => text)
    }

    describe('a transcript', () => {
      it('that nobody has written is not there, and nothing is made by asking for it', async () => {
        expect(await store.transcript('root', key)).toBeUndefined()
        expect(await found('line')).toEqual([])
        await store.deleteTranscript('root', key)
        await expect(store.delete('root')).rejects.toMatchObject({ code: 'no-such-world' })
      })

      it('has its lines in the order in which they were appended', async () => {
        await store.appendTranscript('root', key, lines(0, 0), { from: 0 })
        await store.appendTranscript('root', key, lines(1, 3), { from: 1 })
        await store.appendTranscript('root', key, lines(4, 4), { from: 4 })
        expect(await store.transcript('root', key)).toEqual(texts(0, 4))
      })

      it('has all that was appended before it is asked for, awaited or not, in the order of the calls', async () => {
        const appends = [0, 1, 2, 3].map((line) =>
          store.appendTranscript('root', key, lines(line, line), { from: line }),
        )
        expect(await store.transcript('root', key)).toEqual(texts(0, 3))
        expect(await found('number3')).toEqual(texts(3, 3))
        await Promise.all(appends)
      })

      it('keeps its lines as they were when they were appended', async () => {
        const given = [...lines(0, 1)]
        const append = store.appendTranscript('root', key, given, { from: 0 })
        given.length = 0
        await append
        expect(await store.transcript('root', key)).toEqual(texts(0, 1))
      })

      it('is another one under each key and each root', async () => {
        await store.appendTranscript('root', key, lines(0, 0), { from: 0 })
        await store.appendTranscript('root', other, lines(1, 1), { from: 0 })
        await store.appendTranscript('Root', key, lines(2, 2), { from: 0 })
        expect(await store.transcript('root', key)).toEqual(texts(0, 0))
        expect(await store.transcript('root', other)).toEqual(texts(1, 1))
        expect(await store.transcript('Root', key)).toEqual(texts(2, 2))
      })

      it('gets back every line as it was, whatever well-formed text it holds', async () => {
        const line = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\n'))
        let number = 0
        await fc.assert(
          fc.asyncProperty(fc.array(line, { minLength: 1 }), fc.nat(), async (all, cut) => {
            const place = `${number++}.jsonl`
            const given = all.map((text) => ({ text, searchable: text }))
            const from = cut % (all.length + 1)
            await store.appendTranscript('root', place, given.slice(0, from), { from: 0 })
            await store.appendTranscript('root', place, given.slice(from), { from })
            await store.appendTranscript('root', place, given, { from: 0 })
            expect(await store.transcript('root', place)).toEqual(all)
          }),
          { numRuns: 30 },
        )
      })

      it('can be appended to, read and searched while its root is held, and after', async () => {
        const journal = await store.open('root')
        await journal.commit({ snapshot: { tick: 0, lines: ['{}'] } })
        const append = store.appendTranscript('root', key, lines(0, 0), { from: 0 })
        await Promise.all([append, journal.commit({ rows: [{ tick: 1, line: '{}' }] })])
        expect(await store.transcript('root', key)).toEqual(texts(0, 0))
        expect(await found('line')).toEqual(texts(0, 0))
        const late = store.appendTranscript('root', key, lines(1, 1), { from: 1 })
        await journal.close()
        await late
        expect(await store.transcript('root', key)).toEqual(texts(0, 1))
        expect(await found('line')).toHaveLength(2)
        expect((await (await store.open('root')).load())?.rows).toHaveLength(1)
      })

      it('is no world: it is not listed, and neither are its bytes', async () => {
        await store.appendTranscript('root', key, lines(0, 0), { from: 0 })
        expect(await store.list()).toEqual([])
        const journal = await store.open('root')
        await journal.commit({ snapshot: { tick: 0, lines: ['{}'] } })
        await store.appendTranscript('root', key, lines(1, 9), { from: 1 })
        expect(await store.list()).toMatchObject([{ name: 'root', tick: 0, sizeBytes: 2 }])
      })
    })

    describe('an append', () => {
      it('that is repeated changes nothing', async () => {
        for (let time = 0; time < 3; time++) await store.appendTranscript('root', key, lines(0, 4), { from: 0 })
        await store.appendTranscript('root', key, lines(1, 2), { from: 1 })
        expect(await store.transcript('root', key)).toEqual(texts(0, 4))
        expect(await found('line')).toHaveLength(5)
      })

      it('of which a part is there writes the rest', async () => {
        await store.appendTranscript('root', key, lines(0, 2), { from: 0 })
        await store.appendTranscript('root', key, lines(1, 5), { from: 1 })
        expect(await store.transcript('root', key)).toEqual(texts(0, 5))
        for (let line = 0; line <= 5; line++) expect(await found(`number${line}`)).toEqual(texts(line, line))
      })

      it('that repeats a line with words that it did not have lets a search find it', async () => {
        await store.appendTranscript('root', key, [{ text: '{}' }], { from: 0 })
        expect(await found('late')).toEqual([])
        await store.appendTranscript('root', key, [{ text: '{}', searchable: 'late words' }], { from: 0 })
        expect(await found('late')).toEqual(['{}'])
      })

      it('that would leave a gap is refused, naming the place, and makes nothing', async () => {
        const refused = { name: 'EntiaError', code: 'invalid-argument' }
        await expect(store.appendTranscript('root', key, lines(1, 1), { from: 1 })).rejects.toMatchObject({
          ...refused,
          message: expect.stringMatching(/1\.jsonl'.*begins at line 1, and 0 lines are there/) as string,
        })
        expect(await store.transcript('root', key)).toBeUndefined()
        await store.appendTranscript('root', key, lines(0, 1), { from: 0 })
        const gap = store.appendTranscript('root', key, lines(3, 3), { from: 3 })
        await expect(gap).rejects.toMatchObject({ ...refused, details: { key, line: 3, lineCount: 2 } })
        expect(await store.transcript('root', key)).toEqual(texts(0, 1))
        expect(await found('number3')).toEqual([])
      })

      it('of another text at a place is refused, naming the place, and nothing of it is written', async () => {
        await store.appendTranscript('root', key, lines(0, 3), { from: 0 })
        const changed = [...lines(1, 1), { text: '{"line":"other"}', searchable: 'other' }, ...lines(3, 9)]
        await expect(store.appendTranscript('root', key, changed, { from: 1 })).rejects.toMatchObject({
          code: 'invalid-argument',
          message: expect.stringMatching(/1\.jsonl'.*line 2 is there and has another text/) as string,
          details: { key, line: 2 },
        })
        expect(await store.transcript('root', key)).toEqual(texts(0, 3))
        expect(await found('other number9')).toEqual([])
        await store.appendTranscript('root', key, lines(4, 4), { from: 4 })
        expect(await store.transcript('root', key)).toEqual(texts(0, 4))
      })

      it('that is refused does not keep those behind it from being done', async () => {
        const outcomes = await Promise.allSettled([
          store.appendTranscript('root', key, lines(0, 0), { from: 0 }),
          store.appendTranscript('root', key, lines(7, 7), { from: 7 }),
          store.appendTranscript('root', key, lines(1, 1), { from: 1 }),
        ])
        expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
        expect(await store.transcript('root', key)).toEqual(texts(0, 1))
      })

      it('of no lines is nothing', async () => {
        await store.appendTranscript('root', key, [], { from: 0 })
        expect(await store.transcript('root', key)).toBeUndefined()
      })

      it.each([
        ['a line break', '{}\n{}', 0],
        ['half a surrogate pair', '\ud800', 0],
        ['what is no text', JSON.parse('5') as string, 0],
        ['a place that is no whole number', '{}', 0.5],
        ['a negative place', '{}', -1],
      ])('of %s is refused and writes nothing', async (_, text, from) => {
        const bad = store.appendTranscript('root', key, [...lines(0, 0), { text }], { from })
        await expect(bad).rejects.toMatchObject({ name: 'EntiaError', code: 'invalid-argument' })
        expect(await store.transcript('root', key)).toBeUndefined()
        await expect(store.delete('root')).rejects.toMatchObject({ code: 'no-such-world' })
      })

      it.each([
        ['is empty', ''],
        ['is absolute', '/etc/1.jsonl'],
        ['leads out of its folder', 'agents/../../1.jsonl'],
        ['begins with a step up', '../1.jsonl'],
        ['stands still', './1.jsonl'],
        ['has an empty name', 'agents//1.jsonl'],
        ['ends in a folder', 'agents/1.jsonl/'],
        ['has a backslash', 'agents\\1.jsonl'],
        ['names a drive', 'C:1.jsonl'],
        ['has a NUL', 'a\0.jsonl'],
        ['has half a surrogate pair', '\ud800.jsonl'],
        ['is of another kind', 'agents/1.txt'],
        ['lies in a transcript', '1.jsonl/2.jsonl'],
        ['is no text', JSON.parse('5') as string],
      ])('to a key that %s is refused, and so is every other call with it', async (_, bad) => {
        const refused = { name: 'EntiaError', code: 'invalid-argument' }
        await expect(store.appendTranscript('root', bad, lines(0, 0), { from: 0 })).rejects.toMatchObject(refused)
        await expect(store.transcript('root', bad)).rejects.toMatchObject(refused)
        await expect(store.searchTranscript('root', [key, bad], 'x', { limit: 1 })).rejects.toMatchObject(refused)
        await expect(store.deleteTranscript('root', bad)).rejects.toMatchObject(refused)
      })

      it('to a root without a name is refused, and so is every other call with it', async () => {
        const refused = { name: 'EntiaError', code: 'invalid-argument' }
        await expect(store.appendTranscript('', key, lines(0, 0), { from: 0 })).rejects.toMatchObject(refused)
        await expect(store.transcript('', key)).rejects.toMatchObject(refused)
        await expect(store.searchTranscript('', [key], 'x', { limit: 1 })).rejects.toMatchObject(refused)
        await expect(store.deleteTranscript('', key)).rejects.toMatchObject(refused)
      })

      it('that is under way is waited for when the store is closed, and what comes after is refused', async () => {
        const append = store.appendTranscript('root', key, lines(0, 0), { from: 0 })
        await store.close()
        await append
        const refused = { code: 'store-closed' }
        await expect(store.appendTranscript('root', key, lines(1, 1), { from: 1 })).rejects.toMatchObject(refused)
        await expect(store.transcript('root', key)).rejects.toMatchObject(refused)
        await expect(store.searchTranscript('root', [key], 'x', { limit: 1 })).rejects.toMatchObject(refused)
        await expect(store.deleteTranscript('root', key)).rejects.toMatchObject(refused)
      })
    })

    describe('deleting', () => {
      it('a transcript removes it from its place and from what is found, and no other', async () => {
        await store.appendTranscript('root', key, lines(0, 3), { from: 0 })
        await store.appendTranscript('root', other, lines(0, 3), { from: 0 })
        await store.deleteTranscript('root', key)
        expect(await store.transcript('root', key)).toBeUndefined()
        expect(await found('line')).toEqual([])
        expect(await store.transcript('root', other)).toEqual(texts(0, 3))
        expect(await found('line', [key, other])).toEqual(texts(0, 3))
        await store.deleteTranscript('root', key)
      })

      it('a transcript leaves its key free for a new one', async () => {
        await store.appendTranscript('root', key, lines(0, 3), { from: 0 })
        await store.deleteTranscript('root', key)
        await store.appendTranscript('root', key, lines(7, 8), { from: 0 })
        expect(await store.transcript('root', key)).toEqual(texts(7, 8))
        expect(await found('number1 number7')).toEqual(texts(7, 7))
      })

      it('a root removes its transcripts, those under way too, and a child removes none', async () => {
        const child = await store.open('child', { root: 'root' })
        await child.commit({ snapshot: { tick: 0, lines: ['{}'] } })
        await child.close()
        await store.appendTranscript('root', key, lines(0, 3), { from: 0 })
        await store.appendTranscript('kept', key, lines(0, 3), { from: 0 })
        await store.delete('child')
        expect(await store.transcript('root', key)).toEqual(texts(0, 3))
        const late = store.appendTranscript('root', key, lines(4, 4), { from: 4 })
        await store.delete('root')
        await late
        expect(await store.transcript('root', key)).toBeUndefined()
        expect(await found('line')).toEqual([])
        await store.appendTranscript('root', key, lines(5, 5), { from: 0 })
        expect(await store.transcript('root', key)).toEqual(texts(5, 5))
        expect(await store.transcript('kept', key)).toEqual(texts(0, 3))
      })
    })

    describe('a search', () => {
      const spoken = [
        said('The cache lives in src/rules/projection/prefix.ts, and the cache is warm'),
        said('Nobody knows where the cache went'),
        said('Ça va: un café crème, s’il vous plaît'),
        said('Ёлка и straße, 東京 and नमस्ते'),
        said('AND OR NOT NEAR searchable rowid'),
        { text: '{"said":"nothing of the cache"}' },
      ]
      beforeEach(() => store.appendTranscript('root', key, spoken, { from: 0 }))

      /** The places of what is found. */
      async function places(query: string, limit = 100): Promise<number[]> {
        return (await store.searchTranscript('root', [key], query, { limit })).map(({ index }) => index)
      }

      it('gives the key, the place and the text of each line that it finds', async () => {
        expect(await store.searchTranscript('root', [key], 'nobody', { limit: 5 })).toEqual([
          { key, index: 1, text: spoken[1]?.text },
        ])
      })

      it.each([
        ['in any case', 'CACHE', [0, 1]],
        ['that no line has', 'dog', []],
        ['of which only one is there', 'dog knows', [1]],
        ['and only whole ones', 'cach', []],
        ['without their accents', 'cafe', [2]],
        ['with accents that are written apart', 'cafe\u0301', [2]],
        ['of other scripts', 'ёЛКА', [3]],
        ['of scripts that write without blanks, as they stand between blanks', '東京', [3]],
        ['of scripts with vowel signs', 'नमस्ते', [3]],
        ['as a path', 'src/rules/projection/prefix.ts', [0]],
        ['with all sorts of marks about them', '"(nobody?!)"', [1]],
        ['that mean something to a search engine', 'NEAR', [4]],
      ])('finds words %s', async (_, query, expected) => {
        expect(await places(query)).toEqual(expected)
      })

      describe('in languages that put no blanks between words', () => {
        const sentences = [
          said('明日の会議は10時からGPT会議室で行います。'),
          said('议程：数据库迁移与回滚方案'),
          said('다음 회의는 데이터베이스를 옮기는 날입니다'),
          said('การประชุมพรุ่งนี้ย้ายฐานข้อมูล'),
        ]
        beforeEach(() => store.appendTranscript('root', key, sentences, { from: spoken.length }))

        it.each([
          ['within a sentence without blanks', '会議', [6]],
          ['within one beside other letters', 'gpt', [6]],
          ['within one, of which other words are nowhere', '会議はいつですか', [6]],
          ['of which each letter is there, but not beside the other', '会日', []],
          ['of one such letter', '库', [7]],
          ['of Chinese', '数据库', [7]],
          ['of Korean, whatever is hung on them', '데이터베이스', [8]],
          ['of Thai', 'ฐานข้อมูล', [9]],
        ])('finds words %s', async (_, query, expected) => {
          expect(await places(query)).toEqual(expected)
        })
      })

      it('of no word is no error and finds nothing', async () => {
        const empty = [
          '',
          ' ',
          '🙂',
          '\ud800',
          '\u0301',
          '; --',
          ...'"\'*()^-:\0{\\'.split(''),
          '""',
          '()',
          '"*"',
          'ⓐ\u200d',
        ]
        for (const query of empty) expect(await places(query), JSON.stringify(query)).toEqual([])
      })

      it('takes what means something to a search engine as plain words', async () => {
        const meaningful = [
          'cache AND',
          'cache NOT warm',
          'NEAR(cache warm, 1',
          '"cache',
          'cache*',
          'searchable:cache',
          '- cache',
          '{cache}: ^cache + cache',
          "cache'; DROP TABLE transcripts; --",
          'cache\0🙂\ud800',
        ]
        for (const query of meaningful) expect(await places(query), query).toEqual(expect.arrayContaining([0, 1]))
      })

      it('looks for 64 words, and for none behind them', async () => {
        const words = Array.from({ length: 63 }, (_, index) => `word${index}`).join(' ')
        expect(await places(`${words} nobody`)).toEqual([1])
        expect(await places(`${words} another nobody`)).toEqual([])
      })

      it('may be as long as it likes, and what it begins with counts', async () => {
        const many = Array.from({ length: 5_000 }, (_, index) => `word${index}`)
        for (const query of [
          `cache ${'cache '.repeat(100_000)}`,
          `cache ${many.join(' OR ')}`,
          `cache ${'w'.repeat(1e6)}`,
        ]) {
          expect(await places(query), query.slice(0, 20)).toEqual(expect.arrayContaining([0, 1]))
        }
      })

      it('is no error, whatever somebody types', async () => {
        await fc.assert(
          fc.asyncProperty(fc.string({ unit: 'binary' }), async (query) => {
            expect(await places(query)).toBeInstanceOf(Array)
          }),
          { numRuns: 100 },
        )
      })

      it('gives the best first: more of the words, rarer ones, in shorter lines', async () => {
        expect(await places('cache warm')).toEqual([0, 1])
        expect(await places('nobody cache')).toEqual([1, 0])
        const short = [
          said('a lantern'),
          said('a lantern that hangs far away in the fog over the bridge'),
          said('lantern'),
        ]
        await store.appendTranscript('root', other, short, { from: 0 })
        const hits = await store.searchTranscript('root', [other], 'lantern', { limit: 9 })
        expect(hits.map(({ index }) => index)).toEqual([2, 0, 1])
      })

      it('gives what is as good by key, then by place', async () => {
        const third = 'agents/subagent-10/sessions/1.jsonl'
        for (const place of [other, third]) {
          await store.appendTranscript('root', place, [said('a tie'), said('a tie')], { from: 0 })
        }
        const hits = await store.searchTranscript('root', [other, third], 'tie', { limit: 9 })
        expect(hits.map((hit) => [hit.key, hit.index])).toEqual([
          [third, 0],
          [third, 1],
          [other, 0],
          [other, 1],
        ])
      })

      it('gives no more than asked for, and the best of them', async () => {
        expect(await places('cache warm', 1)).toEqual([0])
        for (const limit of [0, -1, 1.5, Number.NaN]) {
          await expect(places('cache', limit)).rejects.toMatchObject({ code: 'invalid-argument' })
        }
      })

      it('looks only where it is told to, and only in that root', async () => {
        await store.appendTranscript('root', other, [said('the cache again')], { from: 0 })
        await store.appendTranscript('another', key, [said('the cache of another')], { from: 0 })
        expect(await found('cache', [other])).toEqual([said('the cache again').text])
        expect(await found('cache', [key, other, key])).toHaveLength(3)
        expect(await found('cache', ['nobody.jsonl'])).toEqual([])
        expect(await found('cache', [])).toEqual([])
      })

      it('finds what was appended after an earlier search', async () => {
        expect(await places('later')).toEqual([])
        await store.appendTranscript('root', key, [said('later')], { from: 6 })
        expect(await places('later')).toEqual([6])
      })
    })
  })
}
