import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { askArguments, askHelp } from '../../../src/cli/ask-arguments.ts'
import { UsageError } from '../../../src/cli/parsed-words.ts'
import manifest from '../../../package.json' with { type: 'json' }
import { readSource } from '../../architecture/source-file.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { answerOf, asking, only } from '../../cli/asking.ts'
import { eventsOf, run } from '../../cli/program.ts'
import { files, question } from '../../cli/read-folder.ts'

// A process takes its time to begin, more so where many do.
vi.setConfig({ testTimeout: 60_000 })

/** The lines that an answer quotes, as `path:line` and text. */
function quotesIn(answer: string): { readonly path: string; readonly line: number; readonly text: string }[] {
  let place: { path: string; line: number } | undefined
  return answer.split('\n').flatMap((row) => {
    const [, path, line] = /^(.+):(\d+)(?:-\d+)?$/.exec(row) ?? []
    if (path !== undefined) place = { path, line: Number(line) }
    if (place === undefined || !row.startsWith('> ')) return []
    return [{ path: place.path, line: place.line++, text: row.slice(2) }]
  })
}

async function dataFolder(): Promise<readonly [string, string]> {
  return ['--data', await tempFolder()]
}

describe('a lead that is asked about a folder', () => {
  it('answers with lines that stand where it says, word for word', async () => {
    const folder = await tempFolder(files)
    const { events, end } = await asking(folder, '--question', question, ...(await dataFolder()))
    expect(end).toEqual({ how: 'answered' })
    const quotes = quotesIn(answerOf(events))
    expect(quotes.slice(0, 2)).toEqual([
      { path: 'docs/restarts.md', line: 5, text: 'When the process is killed, a tool call that was under way' },
      { path: 'docs/restarts.md', line: 6, text: 'is run again, unless its tool says `once`.' },
    ])
    for (const { path, line, text } of quotes) {
      expect(readFileSync(join(folder, path), 'utf8').split('\n')[line - 1]).toBe(text)
    }
  })

  it('is asked about the docs and examples of the package if no folder is named', async () => {
    const { events } = await asking(...(await dataFolder()))
    const [started] = only('run-started', events)
    expect(started).toMatchObject({ question, model: 'scripted/reader' })
    expect(started?.places.filter((place) => !['docs', 'examples', 'README.md'].includes(place))).toEqual([])
    const quotes = quotesIn(answerOf(events))
    expect(quotes).not.toEqual([])
    for (const { path, line, text } of quotes) {
      expect(path).toMatch(/^(?:docs\/|examples\/|README\.md$)/)
      expect(readFileSync(join(started?.folder ?? '', path), 'utf8').split('\n')[line - 1]).toBe(text)
    }
  })

  it('says so where no file has a word of the question', async () => {
    const { events } = await asking(
      await tempFolder(files),
      '--question',
      'Where do zebras sleep?',
      ...(await dataFolder()),
    )
    expect(answerOf(events)).toBe('No line of the folder has zebras or sleep. 4 files searched, 0 places read.')
  })

  it('reads how the files begin when the question has no words to search for', async () => {
    const folder = await tempFolder({ 'readme.md': '# Bees\n\nAll that is known of bees.\n', 'a.csv': '1\n' })
    const { events } = await asking(folder, ...(await dataFolder()))
    expect(answerOf(events)).toContain('readme.md:3\n> All that is known of bees.')
  })

  it('sends a researcher into each part of it, and asks one of them further', async () => {
    const folder = await tempFolder(files)
    const { events } = await asking(folder, '--question', question, ...(await dataFolder()))
    const queued = only('session-queued', events)
    expect(queued.map(({ name }) => name)).toEqual(['docs', 'examples', 'image.bin'])
    expect(only('session-started', events).map(({ task }) => task)).toEqual(
      queued.map(({ name }) => `${question}\n\nLook only in: ${name}`),
    )
    expect(only('session-ended', events).map(({ status }) => status)).toEqual(queued.map(() => 'succeeded'))
    const [docs] = queued
    expect(only('query-answered', events)).toMatchObject([{ session: docs?.session }])
    expect(only('run-ended', events)[0]).toMatchObject({ sessions: 3 })
  })

  it('has at most two researchers at work at once, so that others wait in the queue', async () => {
    const { events } = await asking(await tempFolder(files), '--question', question, ...(await dataFolder()))
    const atWork: number[] = []
    for (const { type } of events) {
      const now = atWork.at(-1) ?? 0
      if (type === 'session-started') atWork.push(now + 1)
      if (type === 'session-ended') atWork.push(now - 1)
    }
    expect(Math.max(...atWork)).toBe(2)
  })

  it('reads names that could be taken for several, or for a pattern', async () => {
    const folder = await tempFolder({ 'a, b/{c}.md': 'When it is killed it ends.\n', 'd*.md': 'Killed.\n' })
    const { events } = await asking(folder, '--question', 'Who is killed?', ...(await dataFolder()))
    expect(quotesIn(answerOf(events)).map(({ path }) => path)).toEqual(['a, b/{c}.md', 'd*.md'])
  })

  it('says that there is nothing in an empty folder', async () => {
    const { events } = await asking(await tempFolder(), ...(await dataFolder()))
    expect(answerOf(events)).toBe('There are no files in the folder.')
  })
})

describe('--json', () => {
  it('gives an object a line and nothing else, from the start over every call to totals and answer', async () => {
    const folder = await tempFolder(files)
    const ended = await run(['ask', folder, '--question', question, '--fast', '--json'], { in: await tempFolder() })
    const events = eventsOf(ended)
    expect(events[0]).toMatchObject({ type: 'run-started', run: 'ask-1', folder, question })
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set([
        'run-started',
        'model-called',
        'model-delta',
        'model-replied',
        'tool-called',
        'tool-answered',
        'session-queued',
        'session-started',
        'session-ended',
        'query-answered',
        'run-ended',
      ]),
    )
    const calls = only('tool-called', events)
    const results = only('tool-answered', events)
    const placed = ({ path = [], callId }: { path?: readonly string[] | undefined; callId: string }): string =>
      [...path, callId].join('/')
    expect(calls.map(placed).toSorted()).toEqual(results.map(placed).toSorted())
    expect(results[0]).toMatchObject({ tool: 'list_files', arguments: { limit: 1_000 }, isError: false })
    expect(results[0]?.text).toBe('docs/\nexamples/\nimage.bin')
    const replies = only('model-replied', events)
    const last = only('run-ended', events)[0]
    expect(last).toMatchObject({ stop: 'done', modelCalls: replies.length, toolCalls: calls.length })
    expect(last?.usage.output).toBe(replies.reduce((sum, { usage }) => sum + (usage.output ?? 0), 0))
    const streamed = only('model-delta', events).filter(({ kind, path }) => kind === 'text' && path === undefined)
    expect(streamed.map(({ text }) => text).join('')).toContain(last?.answer)
  })
})

describe('what sessions do', () => {
  it('is told with a path of their ids, what they are asked later too; what the lead does has none', async () => {
    const folder = await tempFolder(files)
    const events = eventsOf(
      await run(['ask', folder, '--question', question, '--fast', '--json'], { in: await tempFolder() }),
    )
    const sessions = only('session-queued', events).map(({ session }) => session)
    expect(sessions).toHaveLength(3)
    for (const session of sessions) {
      expect(session).toMatch(/^session-[0-9a-f]{16}$/)
      const own = events.filter((event) => 'path' in event && event.path?.join('/') === session)
      expect(new Set(own.map(({ type }) => type))).toEqual(
        new Set(['model-called', 'model-delta', 'model-replied', 'tool-called', 'tool-answered']),
      )
      const [listed] = only('tool-answered', own)
      expect(listed).toMatchObject({ tool: 'list_files', arguments: { recursive: true } })
    }
    const asked = only('tool-called', events).filter(({ path }) => path?.[0] === sessions[0])
    expect(asked.at(-1)).toMatchObject({ tool: 'read_file', arguments: { path: 'docs/restarts.md', from: 7 } })
    const places = events.flatMap((event) =>
      'tick' in event ? [[...(event.path ?? []), event.tick, event.index].join('/')] : [],
    )
    expect(new Set(places).size).toBe(places.length)
    const leads = only('tool-called', events).filter(({ path }) => path === undefined)
    expect(leads.map(({ tool }) => tool)).toEqual([
      'list_files',
      'subagent',
      'subagent',
      'subagent',
      'subagent_wait',
      'subagent_result',
      'subagent_result',
      'subagent_result',
      'subagent_result',
      'subagent_result',
      'query_subagent',
    ])
  })
})

describe('a folder for runs', () => {
  it('that is made for them says to git that nothing in it is to be kept', async () => {
    const folder = await tempFolder(files)
    await asking(folder, '--data', join(folder, 'runs'))
    expect(readFileSync(join(folder, 'runs/.gitignore'), 'utf8')).toBe('*\n')
    expect(existsSync(join(folder, 'runs/ask-1.sqlite'))).toBe(true)
  })

  it('that was there is used as it is, and every run in it has a name of its own', async () => {
    const folder = await tempFolder(files)
    await asking(folder, '--data', join(folder, 'docs'))
    const { events } = await asking(folder, '--data', join(folder, 'docs'))
    expect(only('run-started', events)[0]).toMatchObject({ run: 'ask-2', data: join(folder, 'docs') })
    expect(existsSync(join(folder, 'docs/.gitignore'))).toBe(false)
  })
})

describe('a command line that cannot be understood', () => {
  it('ends with 2 and a sentence, and nothing is begun', async () => {
    const here = await tempFolder()
    const ended = await run(['ask', '--colour'], { in: here })
    const stderr = 'entia: There is no option --colour. See entia ask --help.\n'
    expect(ended).toEqual({ code: 2, signal: null, stdout: '', stderr })
    expect(existsSync(join(here, '.entia'))).toBe(false)
  })

  it.for([
    [['--question'], '--question needs a value.'],
    [['--question', ' '], '--question must not be empty.'],
    [['--json=yes'], '--json takes no value.'],
    [['a', 'b'], 'Name one folder, got 2: a, b. Write a question after --question.'],
    [['--resume', 'a', '--model', 'ollama/x'], '--resume continues an earlier run: leave out a folder and --model.'],
  ] as const)('is refused: %j', ([words, message]) => {
    expect(() => askArguments(words)).toThrow(new UsageError(message))
  })

  it('is helped by --help, on a small terminal too', async () => {
    const { code, stdout } = await run(['ask', '--help'], { in: await tempFolder() })
    expect({ code, stdout }).toEqual({ code: 0, stdout: askHelp })
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })
})

describe('--version', () => {
  it('prints the version, and loads nothing of the program for that', async () => {
    const { code, stdout } = await run(['--version'], { in: await tempFolder() })
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${manifest.version}\n` })
    const { imports } = readSource('src/cli/main.ts', readFileSync('src/cli/main.ts', 'utf8'))
    expect(imports.filter(({ loaded }) => loaded === 'at-once').map(({ target }) => target)).toEqual(['package.json'])
  })
})

describe('what cannot be done', () => {
  it.for([
    [['nowhere'], /^There is no folder \S+\/nowhere\.$/],
    [['package.json'], /^\S+\/package\.json is a file\. Name the folder that it is in\.$/],
    [['--model', 'openai'], /^openai\/\S+ needs a key: OPENAI_API_KEY is not set\. /],
    [['--resume'], /^There is no run to resume in \S+\. Start one without --resume\.$/],
  ] as const)('is refused: %j', async ([words, message]) => {
    const data = join(await tempFolder(), 'runs')
    await expect(asking(...words, '--data', data)).rejects.toMatchObject({
      name: 'EntiaError',
      message: expect.stringMatching(message),
    })
    expect(existsSync(data)).toBe(false)
  })

  it('ends with 1 and a sentence, without a stack', async () => {
    const here = await tempFolder({ 'a.txt': 'a' })
    const ended = await run(['ask', '--data', 'a.txt'], { in: here })
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toMatch(/^entia: The store cannot use a\.txt: .*\n$/)
  })
})
