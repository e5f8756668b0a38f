import { describe, expect, it } from 'vitest'
import { ServerPipe } from '../../../src/runtime/mcp/server-pipe.ts'

describe('a server on this machine', () => {
  it('that ends while it is written to is said to have ended, not to have a broken pipe', async () => {
    // Its input is closed long before it ends.
    const program = 'require("fs").closeSync(0); setTimeout(() => process.exit(3), 100)'
    const pipe = new ServerPipe({
      command: process.execPath,
      args: ['-e', program],
      env: process.env,
      cwd: process.cwd(),
      maxMessageBytes: 1_000,
    })
    await pipe.start()
    const long = { jsonrpc: '2.0' as const, method: 'x', params: { text: 'x'.repeat(1_000_000) } }
    await expect(pipe.send(long)).rejects.toThrow(/EPIPE|ended|ECONNRESET/)
    expect(pipe.ending).toBe('exit 3')
    await pipe.close()
  })

  it('is understood with blanks, a byte order mark or its log around its messages', async () => {
    const answer = '{"jsonrpc":"2.0","method":"m'
    const lines = [
      `\uFEFF${answer}1"}`,
      ` \t${answer}2"} \r`,
      'Listening…',
      '  {"level":"info"}',
      `\u00A0${answer}3"}`,
      '{',
      '',
    ]
    const program = `process.stdout.write(${JSON.stringify(lines.join('\n'))})`
    const pipe = new ServerPipe({
      command: process.execPath,
      args: ['-e', program],
      env: process.env,
      cwd: process.cwd(),
      maxMessageBytes: 1_000,
    })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const methods: unknown[] = []
    const onmessage = (message: object): void => void methods.push('method' in message && message.method)
    Object.assign(pipe, { onmessage, onclose: resolve })
    await pipe.start()
    await ended
    expect(methods).toEqual(['m1', 'm2', 'm3'])
    await pipe.close()
  })
})
