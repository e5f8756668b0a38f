import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Message, realClock, type ScriptedReply, textOf } from 'entia'
import { builtinTools, type ChatSession, newSession, turn } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { chatting, gate } from './chatting.ts'

/** Resolves once a file of this name has something in it, to that. */
async function appeared(folder: string, name: string): Promise<string> {
  let content = ''
  const read = async (): Promise<string> => (content = await readFile(join(folder, name), 'utf8').catch(() => ''))
  await expect.poll(read).not.toBe('')
  return content
}

/** A turn whose model runs a long command and reads a file that has to wait for it. */
async function waitingForCommand(replies: readonly ScriptedReply[]) {
  const folder = await tempFolder({ 'a.txt': 'one' })
  const first: ScriptedReply = {
    toolCalls: [
      { name: 'bash', arguments: { command: 'echo $$ > started; sleep 100' } },
      { name: 'read_file', arguments: { path: 'a.txt' } },
    ],
  }
  const made = chatting([first, ...replies], {
    ...{ cwd: folder, tools: builtinTools({ cwd: folder, tools: ['core'] }) },
    // Runs unasked, and takes the one slot: so the other call waits for it.
    policy: { permissions: { bash: 'allow' } },
    host: { clock: realClock, maxInFlight: 1 },
  })
  return { ...made, folder }
}

function results(session: ChatSession): readonly string[] {
  return session.history.filter(({ role }) => role === 'tool').map((message) => textOf(message))
}

/** A provider takes a conversation whose calls all have their results, and that ends with the assistant. */
function expectValid(history: readonly Message[]): void {
  expect(newSession({ history }).history).toEqual(history)
}

const noted = ['[cancelled by the user; it may have taken effect]', '[cancelled by the user]']

describe('a turn whose step is stopped', () => {
  it('waits for what its user says next, and answers that with the calls as cancelled', async () => {
    const { folder, requests, session } = await waitingForCommand(['Well.'])
    const under = turn('Wait.', session)
    await appeared(folder, 'started')
    await session.stopStep()
    expect([session.isStopped, session.isBusy]).toEqual([true, true])
    expect(results(session)).toEqual(noted)
    await expect(turn('More?', session)).rejects.toMatchObject({ code: 'turn-in-progress' })
    expect(await session.ask('Do not wait.')).toMatchObject({ text: 'Well.', stop: 'done' })
    expect(await under).toMatchObject({ reply: 'Well.', steps: 2 })
    expect(session.isStopped).toBe(false)
    expect(textOf(requests[1]?.messages.at(-1))).toContain('Do not wait.')
    expectValid(session.history)
  })
})

describe('a turn that is cancelled', () => {
  it.each(['its signal', 'the chat session'] as const)(
    'by %s says of each call whether it may have happened, and the next turn goes on from there',
    async (by) => {
      const { folder, requests, session } = await waitingForCommand(['Well.'])
      const stop = new AbortController()
      const under = turn('Wait.', session, { signal: stop.signal })
      await appeared(folder, 'started')
      if (by === 'its signal') stop.abort()
      else await session.cancel()
      expect(await under).toMatchObject({
        stop: 'cancelled',
        reply: '[turn cancelled]',
        failure: { kind: 'cancelled' },
      })
      expect(results(session)).toEqual(noted)
      expect(textOf(session.history.at(-1))).toBe('[turn cancelled]')
      expectValid(session.history)
      expect(await turn('And now?', session)).toMatchObject({ reply: 'Well.', stop: 'done' })
      const messages = Array.from(requests.at(-1)?.messages ?? [])
      expect(textOf(messages.at(-1))).toContain('And now?')
      expectValid(messages.slice(0, -1))
    },
  )

  it('takes back what no model has read, and nothing else', async () => {
    const { folder, requests, session } = await waitingForCommand(['Well.'])
    const under = turn('Wait.', session)
    await appeared(folder, 'started')
    const joining = ['Then this.', 'And this.'].map((text) => session.ask(text).catch(() => undefined))
    expect(await session.cancel('enough', { takeBack: 5 })).toBe(2)
    expect(await under).toMatchObject({ stop: 'cancelled' })
    await Promise.all(joining)
    expect(results(session)).toEqual(noted)
    expect(session.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant'])
    expectValid(session.history)
    expect(await turn('And now?', session)).toMatchObject({ reply: 'Well.' })
    expect(JSON.stringify(requests.at(-1)?.messages)).not.toContain('this.')
  })

  it('takes back at most as many as are named, the newest', async () => {
    const { folder, session } = await waitingForCommand([])
    void turn('Wait.', session)
    await appeared(folder, 'started')
    for (const text of ['First.', 'Second.']) session.ask(text).catch(() => undefined)
    expect(await session.cancel('enough', { takeBack: 1 })).toBe(1)
    const said = session.history.filter(({ role }) => role === 'user').map((message) => textOf(message))
    expect(said).toEqual(['Wait.', 'First.'])
  })

  it('keeps what the model is reading', async () => {
    const called = gate()
    const { session } = chatting(() => {
      called.resolve()
      return new Promise(() => undefined)
    })
    void turn('Think.', session)
    await called.promise
    session.ask('And this.').catch(() => undefined)
    expect(await session.cancel(undefined, { takeBack: 2 })).toBe(1)
    expect(session.history.map((message) => textOf(message))).toEqual(['Think.', '[turn cancelled]'])
    expect(await session.cancel(undefined, { takeBack: 1 })).toBe(0)
  })

  it('by closing leaves a conversation that ends, and no process behind', async () => {
    const { folder, session } = await waitingForCommand([])
    const under = turn('Wait.', session)
    const pid = Number(await appeared(folder, 'started'))
    await session.close()
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    expect(await under).toMatchObject({ stop: 'cancelled', reply: '[turn cancelled]' })
    expect(results(session)).toEqual(noted)
    expectValid(session.history)
  })
})
