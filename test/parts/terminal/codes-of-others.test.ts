import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { inTurn } from '../../servers/loopback.ts'
import { run } from '../../cli/program.ts'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'
import { ChatTerminal } from './chat-terminal.ts'

const usage = { input: 100, output: 10 }
const hostile = 'X\u001b]52;c;cm0gLXJmIH4=\u0007\u001b]0;title\u001b\\\u001b[45m\u001b[2J\u009b6n\u202E\u{E0041}Y'

/** A project with words of others in all that commands show. */
async function place({ server: name = 's' } = {}) {
  const server = await startAnthropicServer(inTurn({ text: hostile, usage }))
  onTestFinished(() => server.close())
  const folder = await tempFolder()
  const head = { type: 'session', version: 1, key: '20260101-090000-aaaa', createdAt: 0, cwd: folder, model: hostile }
  const said = { type: 'message', seq: 1, role: 'user', content: [{ type: 'text', text: hostile }] }
  await addFiles(folder, {
    '.entia/config.json': JSON.stringify({
      model: `anthropic/${hostile}`,
      permissions: { [`t${hostile}\nmore`]: 'allow' },
    }),
    '.entia/skills/good/SKILL.md': `---\nname: good\ndescription: ${JSON.stringify(hostile)}\n---\nText.\n`,
    '.entia/skills/bad/SKILL.md': `---\nname: ${JSON.stringify(hostile)}\ndescription: x\n---\n`,
    '.entia-home/config/config.json': JSON.stringify({
      mcp: { servers: { [name]: { command: join(folder, `missing-${hostile}`) } } },
    }),
    '.entia-home/data/sessions/20260101-090000-aaaa/transcript.jsonl': `${JSON.stringify(head)}\n${JSON.stringify(said)}\n`,
  })
  const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'key', NO_PROXY: '*' }
  return { in: folder, env }
}

/** What a terminal got besides text and the colours that the program writes itself. */
function codesIn(sent: string): readonly string[] {
  // oxlint-disable-next-line no-control-regex
  const own = sent.replaceAll(/\u001b\[(?:1|2|22|31|33|36|39)m|\r\n|\u001b\[\?25h/g, '')
  return own.match(/\p{Cc}|\u202E|\u{E0041}/gu) ?? []
}

describe('on a terminal, words of others', () => {
  it.for(
    [
      ['-p', 'Hello.', '--model', 'claude-x'],
      ['-p', 'Hello.'],
      ['config', 'check'],
      ['config', 'check', '--json'],
      ['sessions', 'list'],
      ['sessions', 'list', '--json'],
      ['sessions', 'show', '2026'],
      ['sessions', 'show', '2026', '--json'],
      ['sessions', 'remove', hostile.replaceAll('\u001b', '\u009b')],
      ['skills', 'list'],
      ['skills', 'list', '--json'],
      ['mcp', 'list'],
      ['worlds', 'list', '--data', hostile],
      [`no-command-${hostile}`],
    ].map((words) => ({ words, command: JSON.stringify(words.join(' ')).slice(1, 30) })),
  )('reach it as text: entia $command', async ({ words }) => {
    const terminal = new ChatTerminal(words, await place())
    await terminal.ended
    expect(terminal.sent).toMatch(/\w/)
    expect(codesIn(terminal.sent)).toEqual([])
  })

  it('reach it as text: the name of a server, which is refused', async () => {
    const terminal = new ChatTerminal([], await place({ server: `s${hostile}` }))
    await terminal.ended
    expect(terminal.sent).toContain('expected a server')
    expect(codesIn(terminal.sent)).toEqual([])
  })

  it('reach a pipe as they are', async () => {
    const at = await place()
    const { code, stdout } = await run(['-p', 'Hello.', '--model', 'claude-x'], {
      ...at,
      env: { PATH: process.env['PATH'] ?? '', HOME: at.in, ...at.env },
    })
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${hostile}\n` })
  })

  it('reach it as text in a chat: its greeting, a notice, a reply and a question', async () => {
    const terminal = new ChatTerminal([], await place())
    await terminal.until(/^›$/m)
    terminal.type('Hello.\r')
    await terminal.until('1 step')
    terminal.type('\u0004')
    await terminal.ended
    // oxlint-disable-next-line no-control-regex
    expect(terminal.sent).not.toMatch(/\u001b\]|\u009b|\u202E|\u{E0041}|\u001b\[45m|\u001b\[2J/u)
    expect(terminal.screen.text).toContain('XY')
  })
})
