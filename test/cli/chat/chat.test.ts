import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import type { ScriptedBehaviour } from 'entia'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Chat } from '../../../src/cli/chat/chat.ts'
import { MarkdownStream } from '../../../src/cli/chat/markdown.ts'
import { chatting, gate } from '../../runtime/chat/chatting.ts'
import { ScreenReader } from './screen-reader.ts'
import { plainLook } from './typed-chat.ts'

/** A chat with a scripted model, on a terminal emulator. */
function opened(behaviour: ScriptedBehaviour) {
  const { session } = chatting(behaviour)
  const screen = new ScreenReader(80, 30)
  const input = new PassThrough()
  const out = Object.assign(new EventEmitter(), {
    columns: 80,
    rows: 30,
    write: (text: string) => screen.write(text),
  })
  const chat = new Chat({
    input,
    out,
    look: plainLook,
    cwd: process.cwd(),
    history: [],
    environment: {},
    hasStatus: false,
    isVerbose: false,
    markdown: () => Promise.resolve(new MarkdownStream(plainLook)),
    allowAlways: () => Promise.resolve(''),
    remember: () => undefined,
    sessions: {
      first: session,
      isResumed: false,
      another: () => Promise.reject(new Error('There is one chat.')),
      forget: () => Promise.resolve(),
    },
  })
  const left = chat.run()
  onTestFinished(async () => {
    await chat.leave(0)
    await left
  })
  return { screen, session, type: (text: string) => void input.write(text) }
}

describe('a line that is typed while the agent works', () => {
  it('stands between the reply that was under way and the one that it gets in the same turn', async () => {
    const first = gate()
    let asked = 0
    const { screen, type } = opened(async () => {
      if (asked++ > 0) return 'Second.'
      await first.promise
      return 'First.'
    })
    type('One?\r')
    await screen.until(/› One\?\n\n. thinking/)
    type('Two?\r')
    await screen.until(/^ {2}› Two\?\n. thinking/m)
    first.resolve()
    expect(await screen.until(/› One\?\n\nFirst\.\n\n› Two\?\n\nSecond\.\n\n2 steps[^\n]*\n\n›$/)).toBe(true)
  })

  it('opens a turn of its own, shown once, where the turn ends while it is on its way', async () => {
    const replies = [gate(), gate()]
    let asked = 0
    const { screen, session, type } = opened(async () => {
      const at = asked++
      await replies[at]?.promise
      return at === 0 ? 'First.' : 'Second.'
    })
    const ask = session.ask.bind(session)
    const ended = new Promise((resolve) => session.runner.on('turn-ended', resolve))
    vi.spyOn(session, 'ask')
      .mockImplementationOnce(ask)
      .mockImplementationOnce((message) => {
        replies[0]?.resolve()
        return ended.then(() => ask(message)) as ReturnType<typeof ask>
      })
    type('One?\r')
    await screen.until(/› One\?\n\n. thinking/)
    type('Two?\r')
    await screen.until(/First\.\n\n1 step[^\n]*\n\n› Two\?\n[^]*thinking/)
    replies[1]?.resolve()
    await screen.until(/› Two\?\n\nSecond\.\n\n1 step[^\n]*\n\n›$/)
    expect(screen.text.match(/First\.|Second\.|subagent/g)).toEqual(['First.', 'Second.'])
  })
})
