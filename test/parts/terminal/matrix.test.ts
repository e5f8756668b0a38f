import { describe, expect, it } from 'vitest'
import { lab } from '../../doors/matrix/rooms.ts'
import { ChatTerminal } from './chat-terminal.ts'

describe('entia matrix configure, on a terminal,', () => {
  it('asks for what the options leave out, and shows nothing of the password', async () => {
    const at = await lab(undefined, false)
    const words = ['matrix', 'configure', '--server', at.server.url, '--user', 'bot']
    const terminal = new ChatTerminal(words, { in: at.folder, env: { ...at.env, NO_PROXY: '*' } })
    await terminal.until('Room, such as')
    terminal.type('#lab:local\r')
    await terminal.until('Who is answered')
    terminal.type('@ada:local\r')
    await terminal.until('Password of bot (it is not shown):')
    terminal.type('sekret\u007F\u007F\u007F\u007F\u007Fecret\r')
    expect(await terminal.ended).toMatchObject({ exitCode: 0 })
    expect(terminal.sent).toContain('@bot:local answers @ada:local in #lab:local.')
    expect(terminal.sent).not.toContain('ecret')
  })

  it('gives up at Ctrl-C', async () => {
    const at = await lab(undefined, false)
    const words = ['--server', at.server.url, '--user', 'bot', '--room', '#lab:local', '--users', '@ada:local']
    const terminal = new ChatTerminal(['matrix', 'configure', ...words], { in: at.folder, env: at.env })
    await terminal.until('Password of bot')
    terminal.type('se\u0003')
    expect(await terminal.ended).toMatchObject({ exitCode: 2 })
    expect(at.server.requests).toEqual([])
  })
})
