import { describe, expect, it } from 'vitest'
import { serveArguments, serveCommand } from '../../src/cli/serve-command.ts'

describe('entia serve', () => {
  it('takes what the function of that name takes', () => {
    expect(
      serveArguments([
        '--port',
        '0',
        '--host',
        'localhost',
        '--tools',
        'file,git',
        '--allow',
        'bash',
        '--expose-subagents',
      ]),
    ).toEqual({
      port: 0,
      host: 'localhost',
      tools: ['file', 'git'],
      allow: ['bash'],
      exposeSubagents: true,
    })
    expect(serveArguments([])).toEqual({})
  })

  it.for([
    [['--port', '70000'], '--port must be a number from 0 to 65535, got "70000".'],
    [['--port', 'http'], '--port must be a number from 0 to 65535, got "http".'],
    [['--host', '::1'], '--host needs --port: without one, entia serves standard input and output.'],
    [['file'], 'entia serve takes no words, got file.'],
  ] as const)('refuses %o', ([words, message]) => {
    expect(() => serveArguments(words)).toThrow(message)
  })

  it('explains itself', async () => {
    let stdout = ''
    const place = {
      environment: {},
      stdout: { write: (text: string) => (stdout += text) },
      stderr: { write: () => undefined },
      interruption: () => ({ signal: new AbortController().signal, exitCode: () => 0 }),
    }
    expect(await serveCommand(['--help'], place)).toBe(0)
    expect(stdout).toMatch('entia serve --port 8808')
  })
})
