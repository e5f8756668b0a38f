import { describe, expect, it } from 'vitest'
import { cleanTerminal } from '../../src/cli/terminal/cleaned-output.ts'
import { Terminal } from './terminal.ts'

const hostile = 'a\u001b]52;c;eA==\u0007\u001b[31mb\u001b[0m\u001b[2J\u202E\u009b1mc\r\n'

function cleaned(isTTY: boolean, keepsStyles?: boolean): Terminal {
  const out = Object.assign(new Terminal(80), { isTTY })
  cleanTerminal(out as Terminal as never, keepsStyles)
  return out
}

describe('the output of a command', () => {
  it('sends a terminal no code of others', () => {
    const out = cleaned(true)
    out.write(hostile)
    expect(out.sent).toBe('abc\n')
  })

  it('sends a terminal colours where the command writes them, and nothing else', () => {
    const out = cleaned(true, true)
    out.write(hostile)
    expect(out.sent).toBe('a\u001b[31mb\u001b[0mc\n')
  })

  it('gives a file or pipe all as it is', () => {
    const out = cleaned(false)
    out.write('a\u202E')
    expect(out.sent).toBe('a\u202E')
  })

  it('cleans bytes too, also where a letter is in two pieces, and calls back', async () => {
    const out = cleaned(true)
    const bytes = Buffer.from('ä\u001b[1m€')
    for (const byte of bytes) out.write(Buffer.from([byte]))
    await new Promise<void>((written) => void out.write('!', 'utf8', () => written()))
    expect(out.sent).toBe('ä[1m€!')
  })
})
