import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/protocol/message.ts'
import { questionPrompt, readQuestion } from '../../examples/reader/question.ts'
import { bestQuote, quoteText, readQuotes } from '../../examples/reader/quote.ts'
import { researcher } from '../../examples/reader/researcher.ts'
import { bestHits, hitsIn, questionWords, weightsOf, wordPattern, wordsIn } from '../../examples/reader/search.ts'
import { LogView } from '../../src/index.ts'

/** A result of `read_file` that begins with this line. */
function piece(first: number, ...lines: readonly string[]): string {
  return [...lines.map((line, index) => `${first + index}\t${line}`), '[lines 3-9 of 20]'].join('\n')
}

/** Each word counts the same. */
function equally(...words: readonly string[]) {
  return weightsOf(words, words)
}

describe('the words of a question', () => {
  it('are those that say something, each once, whatever its form', () => {
    expect(questionWords('What happens to a tool call when calls are KILLED?')).toEqual(['tool', 'call', 'killed'])
    expect(questionWords('stopped, stopping and stops')).toEqual(['stopped'])
    expect(questionWords('Is it red?')).toEqual(['red'])
  })

  it('are found in all their forms', () => {
    expect(wordsIn('It kills the processes.', ['killed', 'process', 'zebras'])).toEqual(['killed', 'process'])
    expect(['processes', 'address', 'dates', 'queries', 'stopped'].map(wordPattern)).toEqual(
      ['process', 'address', 'date', 'quer', 'stop'].map((stem) => `\\b${stem}`),
    )
  })

  it('are none where nothing is asked for', () => {
    expect(questionWords('What is this folder about?')).toEqual([])
  })

  it('can be of any script, and hold nothing that a pattern would take for an operator', () => {
    expect(questionWords('Où est l’été ?').at(-1)).toBe('été')
    expect(questionWords('a.b (c*d) [größe] 記憶?')).toEqual(['größe', '記憶'])
    expect(wordsIn('Die Größe der 記憶', ['größe', '記憶'])).toEqual(['größe', '記憶'])
  })

  it('are at most six', () => {
    expect(questionWords('one1 two2 three3 four4 five5 six6 seven7')).toHaveLength(6)
  })
})

describe('a question', () => {
  it('comes out of its prompt as it went in, with its places and without', () => {
    for (const question of [
      { text: 'Why?\n\nLook only in: there', places: ['docs', 'README.md'] },
      { text: 'Why?', places: [] },
      { text: 'Why?', places: ['a, b', ' c', 'the "d"', 'e f'] },
    ]) {
      expect(readQuestion(questionPrompt(question))).toEqual(question)
    }
  })
})

describe('the best places', () => {
  const words = ['kill', 'process']
  const best = (maxHits: number, ...rows: readonly string[]) => {
    const hits = hitsIn([{ text: rows.join('\n') }])
    const texts = hits.map(({ text }) => text)
    return bestHits(hits, weightsOf(texts, words), maxHits).map(({ path, line }) => `${path}:${line}`)
  }

  it('are where several words meet, and not where one stands often', () => {
    expect(best(1, 'a.md:5: kill', 'b.md:1: process process', 'b.md:2: process', 'a.md:6: process')).toEqual(['a.md:5'])
  })

  it('are one a file', () => {
    expect(best(9, ...[1, 3, 30].map((line) => `a.md:${line}: kill`), 'b.md:9: process')).toEqual(['b.md:9', 'a.md:1'])
  })

  it('are prose before code, and code before what programs wrote', () => {
    expect(best(3, 'package-lock.json:1: kill', 'a.ts:1: kill', 'z.md:1: kill')).toEqual([
      'z.md:1',
      'a.ts:1',
      'package-lock.json:1',
    ])
  })

  it('are the same whatever the order of the lines', () => {
    const rows = ['a.md:1: kill', 'b.md:1: kill', 'b.md:2: process', 'c.md:2: process']
    expect(best(2, ...rows.toReversed())).toEqual(best(2, ...rows))
  })

  it('are not in lines of data', () => {
    expect(best(2, `a.md:1: kill ${'x'.repeat(400)}`)).toEqual([])
  })
})

describe('a quote', () => {
  it('is the paragraph in which the words meet', () => {
    const text = piece(3, '# Kills', '', 'It is so. When it', 'is killed, the', 'process ends.', 'Then nothing.')
    const quote = bestQuote('a.md', text, equally('kill', 'process'))
    expect(quote && quoteText(quote)).toBe(
      'a.md:5-8\n> It is so. When it\n> is killed, the\n> process ends.\n> Then nothing.',
    )
  })

  it('of one line names that line, and keeps its spaces', () => {
    const quote = bestQuote('a.ts', piece(8, 'x;', '', '  kill(process);'), equally('kill', 'process'))
    expect(quote && quoteText(quote)).toBe('a.ts:10\n>   kill(process);')
  })

  it('goes over no empty line', () => {
    const quote = bestQuote('a.md', piece(1, 'to kill', '', 'the process'), equally('kill', 'process'))
    expect(quote?.lines).toEqual(['to kill'])
  })

  it('is none where nothing was read', () => {
    expect(bestQuote('a.md', '[empty file]', equally('kill'))).toBeUndefined()
  })

  it('is found again in the text that it stands in', () => {
    const quotes = [
      { path: 'a b.md', first: 3, lines: ['One', '', '> two'] },
      { path: 'c.ts', first: 9, lines: ['  x'] },
    ]
    const text = ['This is it:3', 'not:this', ...quotes.map(quoteText), 'The end.'].join('\n\n')
    expect(readQuotes(text)).toEqual(quotes)
  })
})

describe('a researcher', () => {
  const context = { attempt: 1, signal: new AbortController().signal }
  const rest = { model: 'reader', system: '', tools: [], tail: [], options: {} }
  const reply = (...messages: readonly Message[]) => researcher({ ...rest, messages: LogView.of(messages) }, context)
  const asked: Message = { role: 'user', content: [{ type: 'text', text: 'Who is killed?' }] }
  const result = (callId: string, name: string, text: string, isError = false): Message[] => [
    { role: 'assistant', content: [{ type: 'tool-call', id: callId, name, arguments: { path: 'a.md' } }] },
    { role: 'tool', callId, name, content: [{ type: 'text', text }], isError },
  ]

  it('decides from the conversation alone: the same one has the same answer', () => {
    const messages = [asked, ...result('1', 'list_files', 'a.md')]
    expect(reply(...messages)).toEqual(reply(...messages))
    expect(reply(...messages)).toMatchObject({ toolCalls: [{ name: 'grep_files', arguments: { pattern: '\\bkill' } }] })
  })

  it('begins anew with another question', () => {
    const before = [asked, ...result('1', 'list_files', 'a.md'), ...result('2', 'grep_files', '[no matches]')]
    expect(reply(...before, asked)).toMatchObject({ toolCalls: [{ name: 'list_files' }] })
  })

  it('says what a folder that cannot be listed is refused with', () => {
    expect(reply(asked, ...result('1', 'list_files', 'Error: permission denied.', true))).toBe(
      envelope('The folder cannot be listed. Error: permission denied.'),
    )
  })

  it('ends with a summary of how far it looked, and with quotes', () => {
    const found = [
      ...result('1', 'list_files', 'a.md\nb.md'),
      ...result('2', 'grep_files', 'a.md:1: killed'),
      ...result('3', 'read_file', '1\tIt is killed.\n'),
    ]
    expect(reply(asked, ...found)).toBe(
      envelope(
        '2 files searched, 1 place read. Found: killed.',
        'a.md:1\n> It is killed.\n\n2 files searched, 1 place read.',
      ),
    )
  })

  it('answers without what it could not read', () => {
    const found = [...result('1', 'list_files', 'a.md'), ...result('2', 'grep_files', 'a.md:1: killed')]
    expect(reply(asked, ...found)).toMatchObject({
      toolCalls: [{ name: 'read_file', arguments: { path: 'a.md', from: 1 } }],
    })
    const answer = reply(asked, ...found, ...result('3', 'read_file', 'Error: a.md does not exist.', true))
    expect(answer).toBe(envelope('1 file searched, 0 places read. Found: killed.', '1 file searched, 0 places read.'))
  })

  it('reads on where it is asked what follows, without looking around again', () => {
    const further: Message = { role: 'user', content: [{ type: 'text', text: 'What follows after a:b c.md:7?' }] }
    expect(reply(asked, ...result('1', 'list_files', 'a.md'), further)).toMatchObject({
      toolCalls: [{ name: 'read_file', arguments: { path: 'a:b c.md', from: 8 } }],
    })
    expect(reply(asked, further, ...result('2', 'read_file', '8\t\n9\tThen this.\n10\t'))).toBe(
      'a:b c.md:9\n> Then this.',
    )
    expect(reply(asked, further, ...result('2', 'read_file', '[no lines]'))).toBe('Nothing follows.')
  })
})

function envelope(summary: string, whole = summary): string {
  const parts = `<summary>${summary}</summary><full_result>${whole}</full_result>`
  return `<subagent_background_result>${parts}</subagent_background_result>`
}
