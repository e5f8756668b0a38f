import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { AskEvent, AskEventOf } from '../../../src/cli/ask-event.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { answerOf, asking, only } from '../../cli/asking.ts'
import { type Ended, eventsOf, Program, run } from '../../cli/program.ts'

const files = {
  'stops.md': 'A stop is not the end.\n\nWhat was stopped goes on where it was, when it is resumed.\n',
  'starts.md': 'A start is a start.\n\nWhoever starts it again resumes what was stopped.\n',
}
const asked = ['files', '--question', 'What is resumed when it was stopped?']

// A process takes its time to begin, more so where many do.
vi.setConfig({ testTimeout: 120_000 })

async function folderWithFiles(): Promise<string> {
  return tempFolder(Object.fromEntries(Object.entries(files).map(([path, text]) => [`files/${path}`, text])))
}

/** What the worlds did over several processes; what was told twice, because a process was killed, counts once. */
function happened(all: readonly AskEvent[]): AskEvent[] {
  const seen = new Set<string>()
  return all.filter((event) => {
    if (!('tick' in event)) return false
    const place = [...(event.path ?? ['lead']), event.tick, event.index].join('/')
    return !seen.has(place) && seen.add(place)
  })
}

/** Goes on in this process with what another left. */
function resuming(here: string) {
  return asking('--resume', '--data', join(here, '.entia'))
}

/** What the lead said. */
function streamedText(events: readonly AskEvent[]): string {
  const deltas = only('model-delta', events).filter(({ kind, path }) => kind === 'text' && path === undefined)
  return deltas.map(({ text }) => text).join('')
}

/** Model calls and tool calls, each named by who made it and when. */
function madeIn(events: readonly AskEvent[]): { readonly replies: string[]; readonly answers: string[] } {
  const replies = only('model-replied', events).map(({ path = [], tick }) => [...path, tick].join('/'))
  const answers = only('tool-answered', events).map(({ path = [], callId }) => [...path, callId].join('/'))
  return { replies, answers }
}

/** Is it an event of a session, or of the lead? */
function isOf(who: 'lead' | 'session', event: AskEvent): boolean {
  return ('path' in event && event.path !== undefined) === (who === 'session')
}

const moments: readonly (readonly [string, (event: AskEvent) => boolean])[] = [
  ['when the lead was asked', ({ type }) => type === 'model-called'],
  ['when the lead has its list', (event) => event.type === 'tool-answered' && event.tool === 'list_files'],
  ['when sessions are in the queue', ({ type }) => type === 'session-queued'],
  ['when a session was asked', (event) => event.type === 'model-called' && isOf('session', event)],
  ['when a session searches', (event) => event.type === 'tool-called' && event.tool === 'grep_files'],
  ['when a session has read', (event) => event.type === 'tool-answered' && event.tool === 'read_file'],
  ['when one session has ended', ({ type }) => type === 'session-ended'],
  ['when the lead reads results', (event) => event.type === 'tool-called' && event.tool === 'subagent_result'],
  ['when a session was asked further', (event) => event.type === 'tool-called' && event.tool === 'query_subagent'],
  [
    'when a session answers further',
    (event) => event.type === 'tool-called' && event.tool === 'read_file' && event.arguments['from'] === 4,
  ],
  ['when the report is on its way', (event) => event.type === 'model-delta' && event.text.includes('most')],
]

describe('a run that is killed', () => {
  it('again and again goes on where it was, makes no finished call again, and ends as if nothing had been', async () => {
    const here = await folderWithFiles()
    const undisturbed = await asking(join(here, 'files'), ...asked.slice(1), '--data', join(here, 'calm'))
    const parts: Ended[] = []
    for (const [index, [, isIt]] of moments.entries()) {
      const program = new Program(['ask', ...(index === 0 ? asked : ['--resume']), '--json'], { in: here })
      await program.until(isIt)
      parts.push(await program.kill())
    }
    const last = await resuming(here)
    expect(parts.map(({ signal }) => signal)).toEqual(moments.map(() => 'SIGKILL'))
    expect(answerOf(last.events)).toBe(answerOf(undisturbed.events))

    const [expected] = only('run-ended', undisturbed.events)
    expect(expected).toMatchObject({ sessions: 2, modelCalls: 17, toolCalls: 18 })
    expect(only('run-ended', last.events)).toMatchObject([{ ...expected, durationMs: expect.any(Number) }])
    const made = madeIn(happened([...parts.flatMap(eventsOf), ...last.events]))
    expect(made.replies).toHaveLength(expected?.modelCalls ?? 0)
    expect(made.answers).toHaveLength(expected?.toolCalls ?? 0)
    expect(new Set(made.answers).size).toBe(expected?.toolCalls)

    const afterTheFirstStep = parts.slice(2).map((part) => streamedText(eventsOf(part)))
    for (const text of afterTheFirstStep) expect(text).not.toContain('I look at what is there.')
    expect(streamedText(last.events)).toBe(answerOf(last.events))
  })

  it('tells at its resumption what was done before: whose sessions have ended, and how far the others are', async () => {
    const here = await folderWithFiles()
    const program = new Program(['ask', ...asked, '--json'], { in: here })
    const ended = (await program.until(({ type }) => type === 'session-ended')) as AskEventOf<'session-ended'>
    const killed = eventsOf(await program.kill())
    const resumed = await resuming(here)
    const [started] = only('run-started', resumed.events)
    expect(started).toMatchObject({ run: 'ask-1', question: asked[2], model: 'scripted/reader' })
    const { before } = started ?? {}
    expect(before).toMatchObject({ sessions: 2, isFinished: false, lead: { steps: 3, isAsleep: true } })
    expect(before?.tools.map(({ tool }) => tool)).toEqual(['list_files', 'subagent', 'subagent', 'subagent_wait'])
    expect(before?.tree.map(({ name }) => name)).toEqual(['starts.md', 'stops.md'])
    const found = before?.tree.find(({ path }) => path.at(-1) === ended.session)
    const { durationMs, note } = ended
    expect(found).toMatchObject({ status: 'succeeded', steps: 4, durationMs, note })
    const tokens = only('model-replied', killed).filter(({ path }) => path?.at(-1) === ended.session)
    expect(found?.usage.output).toBe(tokens.reduce((sum, { usage }) => sum + (usage.output ?? 0), 0))
    expect(before?.modelCalls).toBeGreaterThanOrEqual(madeIn(happened(killed)).replies.length)
    const again = resumed.events.filter((event) => 'path' in event && event.path?.at(-1) === ended.session)
    expect(madeIn(again).replies.length).toBeLessThanOrEqual(3)
    expect(only('session-started', resumed.events)).toEqual([])
  })
})

describe('a run that is interrupted', () => {
  it.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s stops with %i, says how to go on, and goes on', async ([signal, code]) => {
    const here = await folderWithFiles()
    const program = new Program(['ask', ...asked, '--json'], { in: here })
    await program.until((event) => event.type === 'tool-answered' && isOf('session', event))
    program.child.kill(signal)
    const stopped = await program.ended
    expect(stopped).toMatchObject({ code, stderr: '' })
    const last = eventsOf(stopped).at(-1)
    expect(last).toMatchObject({
      type: 'run-stopped',
      run: 'ask-1',
      resumeBy: expect.stringMatching(/^node \S+ ask --resume$/),
    })
    const { end, events } = await resuming(here)
    expect(end).toEqual({ how: 'answered' })
    expect(streamedText(events)).not.toContain('I look at what is there.')
  })

  it('because nobody reads its output stops as quietly, and goes on', async () => {
    const here = await folderWithFiles()
    const program = new Program(['ask', ...asked, '--json'], { in: here })
    await program.until(({ type }) => type === 'model-called')
    program.child.stdout?.destroy()
    expect(await program.ended).toMatchObject({ code: 141, stderr: '' })
    expect((await resuming(here)).end).toEqual({ how: 'answered' })
  })
})

describe('a run that is going on', () => {
  it('cannot be resumed by another process, which is told who has it; a new run beside it can be begun', async () => {
    const here = await folderWithFiles()
    const program = new Program(['ask', ...asked, '--json'], { in: here })
    await program.until(({ type }) => type === 'model-called')
    const refused = await run(['ask', '--resume'], { in: here })
    const beside = await run(['ask', ...asked, '--fast', '--json'], { in: here })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain(`world 'ask-1'`)
    expect(refused.stderr).toContain(`process ${program.child.pid}`)
    expect(only('run-started', eventsOf(beside))[0]).toMatchObject({ run: 'ask-2' })
    expect(beside.code).toBe(0)
  })
})

describe('--resume', () => {
  it('takes the newest run that has not ended', async () => {
    const here = await folderWithFiles()
    const program = new Program(['ask', ...asked, '--json'], { in: here })
    await program.until(({ type }) => type === 'model-called')
    await program.kill()
    const ended = await asking(join(here, 'files'), '--data', join(here, '.entia'))
    const resumed = await resuming(here)
    expect(only('run-started', ended.events)[0]).toMatchObject({ run: 'ask-2' })
    expect(only('run-started', resumed.events)[0]).toMatchObject({ run: 'ask-1', before: { isFinished: false } })
  })

  it('of runs that have all ended says so, and gives the last answer again', async () => {
    const here = await folderWithFiles()
    const first = await asking(join(here, 'files'), ...asked.slice(1), '--data', join(here, '.entia'))
    const again = await resuming(here)
    expect(again.events.map(({ type }) => type)).toEqual(['run-started', 'run-ended'])
    expect(answerOf(again.events)).toBe(answerOf(first.events))
    const shown = await run(['ask', '--resume'], { in: here })
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    expect(shown.stdout).toContain('Nothing to resume: ask-1 has ended already.\n')
    expect(shown.stdout).toContain('> What was stopped goes on where it was, when it is resumed.')
  })
})
