import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn } from '@lydell/node-pty'
import { coder, slugProject } from '../../test/parts/terminal/coder.ts'
import { startAnthropicServer } from '../../test/servers/anthropic-server.ts'
import { inspectorPictures } from './inspector-pictures.ts'
import { terminalPicture } from './terminal-picture.ts'

/**
 * Makes the pictures of docs/images: the program on a real terminal, its model a script behind a real server; and each view of
 * the inspector in a real browser. With a word, such as `inspector`, only those.
 */
const [, , only = ''] = process.argv
const root = join(import.meta.dirname, '../..')
const size = { columns: 84, rows: 60 }
const images = join(root, 'docs/images')
/** What the program writes while its agent mends a test. */
async function chat(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'entia-picture-'))
  const project = join(home, 'slugs')
  await mkdir(project)
  for (const [name, text] of Object.entries(slugProject)) await writeFile(join(project, name), text)
  const server = await startAnthropicServer(coder)
  const env = {
    PATH: process.env['PATH'] ?? '',
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    LANG: 'C.UTF-8',
    HOME: home,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'key',
  }
  const words = ['--conditions=entia-source', join(root, 'src/cli/main.ts')]
  const pty = spawn(process.execPath, words, { cwd: project, cols: size.columns, rows: size.rows, env })
  let written = ''
  // The program takes the status line away when it ends.
  let shown = ''
  let typed = 0
  pty.onData((data) => {
    written += data
    const text = withoutCodes(written)
    const [wanted, keys] = script[typed] ?? []
    if (wanted !== undefined && keys !== undefined && wanted.test(text.replace(statusLine, ''))) {
      typed++
      pty.write(keys)
    } else if (wanted === undefined && shown === '' && lastShown.test(text)) {
      shown = written
      pty.kill()
    }
  })
  await new Promise((resolve) => pty.onExit(resolve))
  await server.close()
  await rm(home, { recursive: true })
  return shown.replaceAll(home, '/home/you')
}

/** What the user types, each behind what the program has written by then. */
const script: readonly (readonly [wanted: RegExp, keys: string])[] = [
  [/›\s*$/, 'A test fails. Find out why, and mend it.\r'],
  [/bash asks[^]*\?\s*$/, 'y\r'],
  [/replace_in_file asks[^]*\?\s*$/, 'y\r'],
  [/replace_in_file asks[^]*bash asks[^]*\?\s*$/, 'y\r'],
]
const statusLine = /\n\s*claude-\S+(?: · [^\n]*)?$/
/** The end of the turn, and a status line with its tokens. */
const lastShown = /All tests pass now\.[^]*steps[^]*›\s*\n[^\n]* in · [^\n]*$/

function withoutCodes(written: string): string {
  // oxlint-disable-next-line no-control-regex
  return written.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '')
}

await mkdir(images, { recursive: true })
if ('chat'.includes(only)) await writeFile(join(images, 'chat.svg'), await terminalPicture(await chat(), size))
if ('inspector'.includes(only)) await inspectorPictures(images)
