import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { inTurn, type LoopbackServer, type Reply } from '../../servers/loopback.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { ChatTerminal } from './chat-terminal.ts'

const usage = { input: 100, output: 10 }
const escape = '\u001b'

/** A chat in a folder with a file, whose model answers in this order. */
async function chat(...replies: readonly Reply[]) {
  const server = await startAnthropicServer(inTurn(...replies))
  onTestFinished(() => server.close())
  const folder = await tempFolder({ 'a.txt': 'one\n' })
  const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'key', NO_PROXY: '*' }
  const open = async (...args: readonly string[]): Promise<ChatTerminal> => {
    const terminal = new ChatTerminal(['--allow', 'write_file,bash', ...args], { in: folder, env, rows: 60 })
    await terminal.until(/^›$/m)
    return terminal
  }
  return { folder, open, server, terminal: await open() }
}

function writing(...paths: readonly string[]): Reply {
  const call = (path: string, index: number) => ({
    id: `call_${index}`,
    name: 'write_file',
    arguments: JSON.stringify({ path, content: 'two\n' }),
  })
  return { toolCalls: paths.map(call), usage }
}

function lastSaid({ requests }: LoopbackServer): string {
  return JSON.stringify(requests.at(-1)?.body['messages'])
}

describe('a chat whose user goes back', () => {
  it('asks about the files that were written, puts them back, and has the message in the line to be edited', async () => {
    const { folder, open, server, terminal } = await chat(
      { text: 'Hello.', usage },
      writing('a.txt', 'new.txt'),
      { text: 'Written.', usage },
      { text: 'Understood.', usage },
    )
    terminal.type('Hi.\r')
    await terminal.until(/Hello\.[^]*\n\n›$/)
    terminal.type('Write them.\r')
    await terminal.until(/Written\.[^]*\n\n›$/)
    terminal.type('\u0004')
    await terminal.ended
    const resumed = await open('--resume')
    await resumed.until(/Written\.\n\n›$/)
    resumed.type('/rewind\r')
    await resumed.until(
      /Going back to before "Write them\."[^]*a\.txt {4}is put back\n {2}new\.txt {2}is removed[^]*\?$/,
    )
    resumed.type('y\r')
    await resumed.until(
      /Went back to before "Write them\."\.[^]*a\.txt {4}put back\n {2}new\.txt {2}removed\n\n› Write them\.$/,
    )
    expect([await readFile(join(folder, 'a.txt'), 'utf8'), existsSync(join(folder, 'new.txt'))]).toEqual([
      'one\n',
      false,
    ])
    resumed.type(' Not now.\r')
    await resumed.until(/Understood\.[^]*\n\n›$/)
    expect(lastSaid(server)).toMatch(/Hi\..*Hello\..*Write them\. Not now\./)
    expect(lastSaid(server)).not.toContain('Written.')
  })

  it('takes back nothing when the question is left with Enter, and leaves changed files unless told', async () => {
    const { folder, terminal } = await chat(writing('a.txt'), { text: 'Written.', usage })
    terminal.type('Write it.\r')
    await terminal.until(/Written\.[^]*\n\n›$/)
    await writeFile(join(folder, 'a.txt'), 'mine\n')
    terminal.type('/rewind 1\r')
    await terminal.until(/a\.txt {2}changed since by another hand[^]*\?$/)
    terminal.type('\r')
    await terminal.until(/Nothing was taken back\.\n\n›$/)
    terminal.type('/rewind\r')
    await terminal.until(/Nothing was taken back\.[^]*changed since by another hand[^]*\?$/)
    terminal.type('y\r')
    await terminal.until(/a\.txt {2}stays: changed since[^]*› Write it\.$/)
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('mine\n')
  })

  it('goes back to the last message with Escape, twice: the first stops what runs', async () => {
    const sleeping = { id: 'c', name: 'bash', arguments: JSON.stringify({ command: 'touch begun; sleep 60' }) }
    const { terminal, server } = await chat({ toolCalls: [sleeping], usage }, { text: 'Better.', usage })
    terminal.type('Wait long.\r')
    await terminal.until(/bash \d/)
    terminal.type(escape)
    await terminal.until('Stopped.')
    terminal.type(escape)
    await new Promise((resolve) => setImmediate(resolve))
    terminal.type(escape)
    await terminal.until(/Went back to before "Wait long\."\.\n1 command ran since[^]*\n\n› Wait long\.$/)
    terminal.type('\u0003Be quick.\r')
    await terminal.until(/Better\.[^]*\n\n›$/)
    expect(lastSaid(server)).toMatch(/^\[\{"role":"user","content":\[\{"type":"text","text":"Be quick\."[^{]*\{[^{]*$/)
  })

  it('keeps a chat of which everything was taken back, and goes on with it', async () => {
    const { open, server, terminal } = await chat({ text: 'Hello.', usage }, { text: 'Anew.', usage })
    terminal.type('Hi.\r')
    await terminal.until(/Hello\.[^]*\n\n›$/)
    terminal.type('/rewind\r')
    await terminal.until(/› Hi\.$/)
    terminal.type('\u0003\u0004')
    await terminal.ended
    const resumed = await open('--resume')
    await resumed.until(/goes on\.\n\n›$/)
    resumed.type('Again.\r')
    await resumed.until(/Anew\.[^]*\n\n›$/)
    expect(lastSaid(server)).not.toContain('Hi.')
  })

  it('is told what cannot be gone back to', async () => {
    const { server, terminal } = await chat({ text: 'Hello.', usage })
    for (const [typed, shown] of [
      ['/rewind', 'There is nothing to take back yet.'],
      ['/rewind 0', 'Write /rewind N'],
      ['/rewind 1.5', 'Write /rewind N'],
      ['/rewind one', 'Write /rewind N'],
    ] as const) {
      terminal.type(`${typed}\r`)
      await terminal.until(new RegExp(`› ${typed}\n${shown}`))
    }
    terminal.type('Hi.\r')
    await terminal.until(/Hello\.[^]*\n\n›$/)
    terminal.type('/rewind 2\r')
    await terminal.until('There is one message to take back, got 2.')
    expect(server.requests).toHaveLength(1)
  })
})
