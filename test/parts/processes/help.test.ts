import { describe, expect, it } from 'vitest'
import { chatHelp } from '../../../src/cli/chat/chat-arguments.ts'
import { run } from '../../cli/program.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

const names = [
  ...['sessions', 'config', 'skills', 'mcp', 'serve', 'matrix', 'ask', 'sim', 'replay'],
  ...['worlds', 'inspect', 'worker', 'workers', 'queue'],
]

describe('the help of the program', () => {
  it.each(names)('names %s, whose help says what to do with it and fits a small terminal', async (name) => {
    expect(chatHelp).toMatch(new RegExp(`entia ${name}\\b`))
    const { code, stdout } = await run([name, '--help'], { in: await tempFolder() })
    expect(code).toBe(0)
    // "Show …", not "Shows …" or "The …".
    expect(stdout).toMatch(/^(?:Ask|Check|Have|Look|Manage|Offer|Open|Replay|Run|Show|Work) /)
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })
})
