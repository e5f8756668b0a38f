import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/protocol/message.ts'
import { questionPrompt, readQuestion } from '../../src/cli/question-prompt.ts'
import { bestPlaces, mergedHits, wordWeights } from '../../src/cli/reader/best-places.ts'
import { questionWords, wordPattern } from '../../src/cli/reader/question-words.ts'
import { findingsText, readFindings } from '../../src/cli/reader/findings.ts'
import { bestQuote, quoteText, readQuotes } from '../../src/cli/reader/quote.ts'
import { readerBehaviour } from '../../src/cli/reader/reader-behaviour.ts'
import { LogView } from '../../src/index.ts'

function stemsOf(question: string): string[] {
  return questionWords(question).map(({ stem }) => stem)
}

/** A result of `read_file` that begins with this line. */
function piece(first: number, ...lines: readonly string[]): string {
  return [...lines.map((line, index) => `${first + index}\t${line}`), '[lines 3-9 of 20]'].join('\n')
}

function weightsOf(question: string) {
  const words = questionWords(question)
  return wordWeights(words.map((word, line) => ({ path: 'a', line, text: '', words: new Set([word]) })))
}

describe('the words of a question', () => {
  it('are those that say something, each once, by the beginning that their forms share', () => {
    expect(stemsOf('What happens to a tool call when calls are KILLED?')).toEqual(['tool', 'call', 'kill'])
    expect(stemsOf('stopped, stopping and stops')).toEqual(['stop'])
    expect(stemsOf('processes address dates queries')).toEqual(['process', 'address', 'date', 'quer'])
    expect(stemsOf('Is it red?')).toEqual(['red'])
  })

  it('are none where nothing is asked for', () => {
    expect(stemsOf('What is this folder about?')).toEqual([])
  })

  it('can be of any script, and hold nothing that a pattern would take for an operator', () => {
    const [word] = questionWords('Où est l’été ?').slice(-1)
    expect(word).toEqual({ word: 'été', stem: 'été' })
    for (const each of questionWords('a.b (c*d) [größe] 記憶?'))
      expect(new RegExp(wordPattern(each), 'u').test(each.stem)).toBe(true)
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
  const words = questionWords('kill process')
  const [kill, process] = words as [(typeof words)[0], (typeof words)[0]]
  const found = (killText: string, processText: string) =>
    mergedHits([
      { word: kill, text: killText },
      { word: process, text: processText },
    ])

  it('are where several words meet, and not where one stands often', () => {
    const hits = found('a.md:5: kill', 'b.md:1: process process\nb.md:2: process\na.md:6: process')
    expect(bestPlaces(hits, 1)).toMatchObject([{ path: 'a.md', line: 5 }])
  })

  it('are not two of one paragraph, and no more than two of a file', () => {
    const rows = [1, 3, 30, 60, 90].map((line) => `a.md:${line}: kill`).join('\n')
    expect(bestPlaces(found(rows, 'b.md:9: process'), 9).map(({ path, line }) => `${path}:${line}`)).toEqual(
      expect.arrayContaining(['a.md:1', 'a.md:30', 'b.md:9']),
    )
    expect(bestPlaces(found(rows, ''), 9)).toHaveLength(2)
  })

  it('are prose before code, and code before what programs wrote', () => {
    const hits = found(['package-lock.json:1: kill', 'a.ts:1: kill', 'z.md:1: kill'].join('\n'), '')
    expect(bestPlaces(hits, 3).map(({ path }) => path)).toEqual(['z.md', 'a.ts', 'package-lock.json'])
  })

  it('are the same whatever the order of the searches', () => {
    const one = found('a.md:1: kill\nb.md:1: kill', 'b.md:2: process')
    expect(bestPlaces(one.toReversed(), 2)).toEqual(bestPlaces(one, 2))
  })
})

describe('a quote', () => {
  it('is the lines in which the words meet, up to where their sentence begins and ends', () => {
    const text = piece(3, '# Kills', '', 'It is so. When it', 'is killed, the', 'process ends.', 'Then nothing.')
    const quote = bestQuote('a.md', text, weightsOf('kill process'))
    expect(quote && quoteText(quote)).toBe('a.md:5-7\n> It is so. When it\n> is killed, the\n> process ends.')
  })

  it('of one line names that line, and keeps its spaces', () => {
    const quote = bestQuote('a.ts', piece(8, 'x;', '  kill(process);', 'y;'), weightsOf('kill process'))
    expect(quote && quoteText(quote)).toBe('a.ts:9\n>   kill(process);')
  })

  it('goes over no empty line', () => {
    const quote = bestQuote('a.md', piece(1, 'to kill', '', 'the process'), weightsOf('kill process'))
    expect(quote?.lines).toEqual(['to kill'])
  })

  it('is none where nothing was read', () => {
    expect(bestQuote('a.md', '[empty file]', weightsOf('kill'))).toBeUndefined()
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

describe('what a search came to', () => {
  it('comes out of its summary as it went in', () => {
    for (const findings of [
      { files: 3, places: 2, found: ['tool', 'call'], missing: ['zebra'] },
      { files: 1, places: 0, found: [], missing: ['zebra', 'été'] },
      { files: 0, places: 0, found: [], missing: [] },
    ]) {
      expect(readFindings(findingsText(findings))).toEqual(findings)
    }
    expect(readFindings('I found 3 files searched, 2 places read.')).toBeUndefined()
  })
})

describe('the reader', () => {
  const context = { attempt: 1, signal: new AbortController().signal }
  const rest = { model: 'reader', system: '', tools: [], tail: [], options: {} }
  const reply = (...messages: readonly Message[]) =>
    readerBehaviour({ ...rest, messages: LogView.of(messages) }, context)
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
    const further: Message = { role: 'user', content: [{ type: 'text', text: 'What follows behind a:b c.md:7?' }] }
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
