import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'

const main = join(import.meta.dirname, '../../../src/cli/main.ts')
const key = '20260101-090000-aaaa'

/** A folder with a stored chat that is longer than a pipe, and with a skill. */
async function home(): Promise<string> {
  const folder = await tempFolder()
  const said = { type: 'message', seq: 1, role: 'user', content: [{ type: 'text', text: 'word '.repeat(50_000) }] }
  await addFiles(folder, {
    [`data/sessions/${key}/transcript.jsonl`]: `{"type":"session","key":"${key}","cwd":${JSON.stringify(folder)}}\n${JSON.stringify(said)}\n`,
    '.entia/skills/good/SKILL.md': '---\nname: good\ndescription: Good.\n---\nText.\n',
  })
  return folder
}

/** `entia WORDS | true`: the exit code of entia, and its stderr. */
async function closed(words: readonly string[]): Promise<{ code: string; stderr: string }> {
  const cwd = await home()
  const line = '("$0" --conditions=entia-source "$@"; echo $? >&3) | true'
  const child = spawn('bash', ['-c', line, process.execPath, main, ...words], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: cwd,
      ENTIA_DATA_DIR: join(cwd, 'data'),
      ENTIA_CONFIG_DIR: join(cwd, 'config'),
    },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const [code, stderr] = await Promise.all([
    text(child.stdio[3] as Readable),
    text(child.stderr as Readable),
    once(child, 'exit'),
  ])
  return { code: code.trim(), stderr }
}

describe('a command whose reader has gone', () => {
  it.for([
    '--version',
    '--help',
    'sessions --help',
    'sessions list --all',
    'sessions list --json',
    `sessions show ${key}`,
    `sessions show ${key} --json`,
    'config path',
    'config check',
    'skills list',
    'skills list --json',
    'mcp list',
    'worlds list',
    'sim --help',
  ])('ends quietly: entia %s', async (words) => {
    expect(await closed(words.split(' '))).toEqual({ code: '141', stderr: '' })
  })
})
