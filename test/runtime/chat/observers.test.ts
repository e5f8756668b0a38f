import { join } from 'node:path'
import { realClock, type RunnerEvent, type ScriptedReply, textOf } from 'entia'
import {
  addObserver,
  builtinTools,
  observerProgress,
  type NewSessionOptions,
  type ToolCallEvent,
  turn,
} from 'entia/runtime'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { chatting } from './chatting.ts'

/** A chat session in a folder with three lines in `a.ts`, and the tools for files and the shell. */
async function working(replies: readonly ScriptedReply[], options: NewSessionOptions = {}) {
  const folder = await tempFolder({ 'a.ts': '1\n2\n3\n' })
  const cwd = folder
  const tools = builtinTools({ cwd, tools: ['file', 'code'] })
  return {
    ...chatting(replies, { cwd, tools, home: join(folder, 'home'), host: { clock: realClock }, ...options }),
    folder,
  }
}

const reading = { name: 'read_file', arguments: { path: 'a.ts' } }
const writing = { name: 'write_file', arguments: { path: 'b.ts', content: 'x' } }

/** What is printed to stderr in this test. */
function printed(): string[] {
  const lines: string[] = []
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  onTestFinished(() => stderr.mockRestore())
  return lines
}

describe('an observer', () => {
  it('gets each call once it has its result, frozen, with what was decided', async () => {
    const { session } = await working([{ toolCalls: [reading] }, 'Read.'])
    const events: ToolCallEvent[] = []
    addObserver(session, (event) => events.push(event))
    await turn('Read it.', session)
    expect(events).toEqual([
      {
        call: {
          id: 'call-1-0',
          tool: 'read_file',
          arguments: { path: 'a.ts' },
          channel: 'cli',
          paths: ['a.ts'],
          urls: [],
          dataClass: 'code',
          operation: 'read',
        },
        decision: { model: 'cloud', approval: 'allow', reason: 'default: code/read/cli' },
        outcome: 'ran',
        result: textOf(session.history.find(({ role }) => role === 'tool')),
        success: true,
        elapsedMs: expect.any(Number) as unknown,
        callNumber: 1,
      },
    ])
    const parts = [events[0], events[0]?.call, events[0]?.call.arguments, events[0]?.call.paths, events[0]?.decision]
    expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true))
  })

  it('is told of calls that ran, that the policy denied and that a person declined, numbered from 1', async () => {
    const searching = { name: 'grep_files', arguments: { pattern: '1' } }
    const { session } = await working([{ toolCalls: [reading, searching, writing] }, 'Done.'], {
      policy: { permissions: { grep_files: 'deny' } },
      approve: () => false,
    })
    const told: (readonly [number, ...unknown[]])[] = []
    addObserver(session, ({ call, callNumber, outcome, success }) => {
      told.push([callNumber, call.tool, outcome, success])
    })
    await turn('Go.', session)
    expect(told.toSorted(([one], [other]) => one - other)).toEqual([
      [1, 'read_file', 'ran', true],
      [2, 'grep_files', 'deny', false],
      [3, 'write_file', 'declined', false],
    ])
    expect(session.stats().toolCalls).toBe(3)
  })

  it('that fails changes nothing: others are called, each failure is an event, and the first is printed', async () => {
    const lines = printed()
    const { session } = await working([
      { toolCalls: [reading] },
      { toolCalls: [reading] },
      { toolCalls: [reading] },
      'Done.',
    ])
    const failed: RunnerEvent[] = []
    session.runner.on('observer-failed', (event) => void failed.push(event))
    const order: string[] = []
    addObserver(session, function first() {
      order.push('first')
      throw new Error('no\nway')
    })
    addObserver(session, () => void order.push('second'))
    addObserver(session, async () => Promise.reject(new Error('later')))
    expect(await turn('Go.', session)).toMatchObject({ stop: 'done', reply: 'Done.' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(order).toEqual(['first', 'second', 'first', 'second', 'first', 'second'])
    expect(failed).toHaveLength(6)
    expect(failed[0]).toMatchObject({ tool: 'read_file', callId: 'call-1-0', message: 'no\nway' })
    expect(lines).toEqual([
      'The observer first failed, and will not be reported again: no way\n',
      'An observer failed, and will not be reported again: later\n',
    ])
  })

  it('is called until it is removed, also for the event during which that happens', async () => {
    const { session } = await working([{ toolCalls: [reading] }, { toolCalls: [reading] }, 'Done.'])
    const heard: string[] = []
    addObserver(session, () => removeOther())
    const removeOther = addObserver(session, ({ callNumber }) => heard.push(`other ${callNumber}`))
    addObserver(session, ({ callNumber }) => heard.push(`last ${callNumber}`))
    await turn('Go.', session)
    expect(heard).toEqual(['other 1', 'last 1', 'last 2'])
  })

  it('of progress writes a line for each call', async () => {
    const failing = { name: 'bash', arguments: { command: 'echo x; exit 1' } }
    const lines = printed()
    const { session } = await working(
      [{ toolCalls: [reading] }, { toolCalls: [failing] }, { toolCalls: [writing] }, 'Done.'],
      {
        approve: ({ tool }) => tool === 'bash',
        verbose: true,
      },
    )
    const written: string[] = []
    addObserver(session, observerProgress({ write: (line) => written.push(line) }))
    await turn('Go.', session)
    expect(written).toEqual([
      '  [read_file] a.ts (3 lines)\n',
      '  [bash] echo x; exit 1 (2 lines) (error)\n',
      '  [write_file] b.ts declined: it writes in your project\n',
    ])
    expect(lines).toEqual(written)
  })
})
