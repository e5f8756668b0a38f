import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { inTurn } from '../../servers/loopback.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { ChatTerminal } from './chat-terminal.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const ctrlV = '\u0016'

/** A chat whose system has a program that reads the clipboard, by a script. */
async function chatWith(xclip: string) {
  const server = await startAnthropicServer(inTurn({ text: 'Seen.', usage: { input: 1, output: 1 } }))
  onTestFinished(() => server.close())
  const folder = await tempFolder()
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await writeFile(join(folder, 'my shot.png'), Buffer.from(png, 'base64'))
  await writeFile(join(bin, 'xclip'), `#!/bin/sh\n${xclip}\n`)
  await chmod(join(bin, 'xclip'), 0o755)
  const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'key', NO_PROXY: '*', PATH: bin }
  const terminal = new ChatTerminal([], { in: folder, env, columns: 120 })
  await terminal.until(/^›$/m)
  return { folder, server, terminal }
}

describe('a picture in a chat on a terminal', () => {
  it('is pasted from the clipboard with Ctrl-V, dropped as a path, shown as a note, and sent', async () => {
    const { folder, server, terminal } = await chatWith(`echo ${png} | /usr/bin/base64 -d`)
    terminal.type('Compare ')
    terminal.type(ctrlV)
    await terminal.until('› Compare [image 1: clipboard, 70 bytes]')
    terminal.type(` with \u001b[200~${join(folder, 'my\\ shot.png')}\u001b[201~\r`)
    await terminal.until(
      /› Compare \[image 1: clipboard, 70 bytes\] with \[image 2: my shot\.png, 70 bytes\]\n\nSeen\./,
    )
    const sent = JSON.stringify(server.requests[0]?.body['messages'])
    expect(sent.match(new RegExp(`"media_type":"image/png","data":"${png.replaceAll('+', '\\+')}"`, 'g'))).toHaveLength(
      2,
    )
  })

  it('that is not in the clipboard is told, and nothing is sent', async () => {
    const { server, terminal } = await chatWith('exit 1')
    terminal.type(ctrlV)
    await terminal.until('There is no picture in the clipboard.')
    expect(server.requests).toEqual([])
  })
})
