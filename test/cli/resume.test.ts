import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { AskEvent } from '../../src/cli/ask-event.ts'
import { tempFolder } from '../tools/temp-folder.ts'
import { answerOf, asking, only } from './asking.ts'
import { type Ended, eventsOf, Program, run } from './program.ts'

const files = {
  'stops.md': 'A stop is not the end.\n\nWhat was stopped goes on where it was, when it is resumed.\n',
  'starts.md': 'A start is a start.\n\nWhoever starts it again resumes what was stopped.\n',
}
const asked = ['files', '--question', 'What is resumed when it was stopped?']

// A process takes its time to begin, more so where many do.
vi.setConfig({ testTimeout: 60_000 })

async function folderWithFiles(): Promise<string> {
  return tempFolder(Object.fromEntries(Object.entries(files).map(([path, text]) => [`files/${path}`, text])))
}

/** What the world did over several processes; what was told twice, because a process was killed, counts once. */
function happened(all: readonly AskEvent[]): AskEvent[] {
  const seen = new Set<string>()
  return all.filter((event) => {
    if (!('tick' in event)) return false
    const place = `${event.tick}/${event.index}`
    return !seen.has(place) && seen.add(place)
  })
}

/** Goes on in this process with what another left. */
function resuming(here: string) {
  return asking('--resume', '--data', join(here, '.entia'))
}

function streamedText(events: readonly AskEvent[]): string {
  const deltas = only('model-delta', events).filter(({ kind }) => kind === 'text')
  return deltas.map(({ text }) => text).join('')
}

describe('a run that is killed', () => {
  it('in each of its steps goes on where it was, makes no finished call again, and ends as if nothing had been', async () => {
    const here = await folderWithFiles()
    const undisturbed = await asking(join(here, 'files'), ...asked.slice(1), '--data', join(here, 'calm'))
    const parts: Ended[] = []
    const killAt = async (args: readonly string[], isIt: (event: AskEvent) => boolean): Promise<void> => {
      const program = new Program([...args, '--json'], { in: here })
      await program.until(isIt)
      parts.push(await program.kill())
    }
    await killAt(asked, ({ type }) => type === 'model-called')
    await killAt(['--resume'], (event) => event.type === 'tool-answered' && event.tool === 'list_files')
    await killAt(['--resume'], (event) => event.type === 'tool-called' && event.tool === 'grep_files')
    await killAt(['--resume'], (event) => event.type === 'tool-answered' && event.tool === 'read_file')
    await killAt(['--resume'], (event) => event.type === 'model-delta' && event.text.includes('most'))
    const last = await resuming(here)
    expect(parts.map(({ signal }) => signal)).toEqual(Array.from({ length: 5 }, () => 'SIGKILL'))
    expect(answerOf(last.events)).toBe(answerOf(undisturbed.events))

    const [expected] = only('run-ended', undisturbed.events)
    expect(only('run-ended', last.events)).toMatchObject([{ ...expected, durationMs: expect.any(Number) }])
    const events = happened([...parts.flatMap(eventsOf), ...last.events])
    expect(only('model-called', events)).toHaveLength(expected?.modelCalls ?? 0)
    expect(only('model-replied', events)).toHaveLength(expected?.modelCalls ?? 0)
    expect(only('tool-answered', events)).toHaveLength(expected?.toolCalls ?? 0)
    const callIds = new Set(only('tool-called', events).map(({ callId }) => callId))
    expect(callIds.size).toBe(expected?.toolCalls)

    const afterTheFirstStep = parts.slice(2).map((part) => streamedText(eventsOf(part)))
    for (const text of afterTheFirstStep) expect(text).not.toContain('I look at what is there.')
    expect(streamedText(last.events)).toBe(answerOf(last.events))
  })

  it('tells at its resumption what was done before', async () => {
    const here = await folderWithFiles()
    const program = new Program([...asked, '--json'], { in: here })
    const first = await program.until(({ type }) => type === 'tool-answered')
    await program.kill()
    const resumed = await resuming(here)
    const [started] = only('run-started', resumed.events)
    const { callId, text } = first as Extract<AskEvent, { type: 'tool-answered' }>
    expect(started).toMatchObject({ run: 'ask-1', question: asked[2], model: 'scripted/reader' })
    expect(started?.before).toMatchObject({
      step: 2,
      modelCalls: 1,
      toolCalls: 1,
      tools: [{ callId, text }],
      isFinished: false,
    })
  })
})

describe('a run that is interrupted', () => {
  it.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s stops with %i, says how to go on, and goes on', async ([signal, code]) => {
    const here = await folderWithFiles()
    const program = new Program([...asked, '--json'], { in: here })
    await program.until(({ type }) => type === 'tool-answered')
    program.child.kill(signal)
    const stopped = await program.ended
    expect(stopped).toMatchObject({ code, stderr: '' })
    const last = eventsOf(stopped).at(-1)
    expect(last).toMatchObject({
      type: 'run-stopped',
      run: 'ask-1',
      resumeBy: expect.stringMatching(/^node \S+ --resume$/),
    })
    const { end, events } = await resuming(here)
    expect(end).toEqual({ how: 'answered' })
    expect(streamedText(events)).not.toContain('I look at what is there.')
  })

  it('because nobody reads its output stops as quietly, and goes on', async () => {
    const here = await folderWithFiles()
    const program = new Program([...asked, '--json'], { in: here })
    await program.until(({ type }) => type === 'model-called')
    program.child.stdout?.destroy()
    expect(await program.ended).toMatchObject({ code: 141, stderr: '' })
    expect((await resuming(here)).end).toEqual({ how: 'answered' })
  })
})

describe('a run that is going on', () => {
  it('cannot be resumed by another process, which is told who has it; a new run beside it can be begun', async () => {
    const here = await folderWithFiles()
    const program = new Program([...asked, '--json'], { in: here })
    await program.until(({ type }) => type === 'model-called')
    const [refused, beside] = await Promise.all([
      run(['--resume'], { in: here }),
      run([...asked, '--fast', '--json'], { in: here }),
    ])
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
    const program = new Program([...asked, '--json'], { in: here })
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
    const shown = await run(['--resume'], { in: here })
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    expect(shown.stdout).toContain('Nothing to resume: ask-1 has ended already.\n')
    expect(shown.stdout).toContain('> What was stopped goes on where it was, when it is resumed.')
  })
})
