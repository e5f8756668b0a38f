import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { type Handler, inTurn, type LoopbackServer, type Received, type Reply } from '../../servers/loopback.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { type Ended, Program } from '../../cli/program.ts'

// A process takes its time to begin, more so where many do.
vi.setConfig({ testTimeout: 60_000 })

const usage = { input: 100, output: 10 }

interface Place {
  readonly server: LoopbackServer
  readonly in: string
  readonly env: Readonly<Record<string, string>>
}

async function place(handler: Handler): Promise<Place> {
  const server = await startAnthropicServer(handler)
  onTestFinished(() => server.close())
  const folder = await tempFolder({ 'home/.ssh/id_rsa': 'secret\n', 'app/notes.md': 'Bees sleep at night.\n' })
  const env = {
    ...{ ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'key', NO_PROXY: '*', PATH: process.env['PATH'] ?? '' },
    ...{ HOME: join(folder, 'home'), ENTIA_DATA_DIR: join(folder, 'data'), ENTIA_CONFIG_DIR: join(folder, 'config') },
  }
  return { server, in: join(folder, 'app'), env }
}

function run(at: Place, words: readonly string[], input?: string): Promise<Ended> {
  return new Program(words, { ...at, ...(input !== undefined && { input }) }).ended
}

function bash(command: string): Reply {
  return {
    text: 'I run it.',
    toolCalls: [{ id: 'call_1', name: 'bash', arguments: JSON.stringify({ command }) }],
    usage,
  }
}

/** The text of a request's last message. */
function lastText({ body }: Received): string {
  return JSON.stringify((body['messages'] as readonly unknown[]).at(-1))
}

describe('a run with one prompt', () => {
  it('declines a call that asks, and prints the reply alone', async () => {
    const at = await place(inTurn(bash('touch made'), { text: 'It was not allowed.', usage }))
    const ended = await run(at, ['-p', 'Make a file.'])
    expect(ended).toEqual({
      ...{ code: 3, signal: null, stdout: 'It was not allowed.\n' },
      stderr:
        '  [bash] touch made declined: it runs a command in your project\n' +
        'entia: declined, because no one can be asked here:\n  [bash] touch made\nTo let them run: --allow bash\n',
    })
    expect(lastText(at.server.requests[1] as Received)).toContain('user declined: no approval channel')
    expect(existsSync(join(at.in, 'made'))).toBe(false)
  })

  it('runs it where its tool is allowed, but not near credentials', async () => {
    const at = await place(
      inTurn(bash('echo x > made'), { text: 'Made.', usage }, bash('cat ~/.ssh/id_rsa'), { text: 'I may not.', usage }),
    )
    expect(await run(at, ['run', 'Make', 'it.', '--allow', 'bash'])).toMatchObject({
      ...{ code: 0, stdout: 'Made.\n', stderr: '  [bash] echo x > made (0 lines)\n' },
    })
    expect(await readFile(join(at.in, 'made'), 'utf8')).toBe('x\n')
    const ended = await run(at, ['-p', 'Read the key.', '--allow', 'bash'])
    expect(ended).toMatchObject({ code: 3, stdout: 'I may not.\n' })
    expect(ended.stderr).toContain('[bash] cat ~/.ssh/id_rsa declined: there may be credentials in ')
    expect(ended.stderr).not.toContain('--allow')
    expect(at.server.requests.map(({ text }) => text).join()).not.toContain('secret')
  })

  it.for(['json', 'stream-json'])('gives declined calls in its %s', async (output) => {
    const at = await place(inTurn(bash('touch made'), { text: 'It was not allowed.', usage }))
    const { code, stdout } = await run(at, ['-p', 'Make a file.', '--output', output])
    expect(code).toBe(3)
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as object
    const reason = 'it runs a command in your project'
    expect(last).toMatchObject({
      declined: [{ tool: 'bash', arguments: { command: 'touch made' }, reason, isCredential: false }],
    })
  })

  it('takes what is piped in behind the prompt, or as the prompt', async () => {
    const at = await place(() => ({ text: 'Read.', usage }))
    await run(at, ['-p', 'Review this.'], 'a\n@notes.md\n')
    await run(at, ['-p', '-'], 'all of it\n')
    await run(at, ['run'], 'without a word\n')
    expect(at.server.requests.map(({ text }) => text).join()).not.toContain('Bees')
    expect(at.server.requests.map(lastText)).toEqual([
      expect.stringContaining('"Review this.\\n\\na\\n@notes.md"'),
      expect.stringContaining('"all of it"'),
      expect.stringContaining('"without a word"'),
    ])
    expect(await run(at, ['-p', '-'])).toMatchObject({ code: 2, stderr: expect.stringContaining('is empty') })
  })

  it('adds files that the prompt names: text as text, pictures as pictures', async () => {
    const at = await place(() => ({ text: 'Seen.', usage }))
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    await writeFile(join(at.in, 'dot.png'), Buffer.from(png, 'base64'))
    await run(at, ['-p', 'Compare @notes.md and @dot.png, not me@example.org'])
    const last = lastText(at.server.requests[0] as Received)
    expect(last).toContain('<file path=\\"notes.md\\">\\nBees sleep at night.\\n\\n</file>')
    expect(last).toContain(`"media_type":"image/png","data":"${png}"`)
  })

  it('gives its reply and what it cost as one object', async () => {
    const at = await place(inTurn(bash('true'), { text: 'Done.', usage }))
    const { code, stdout } = await run(at, ['-p', 'Do it.', '--allow', 'bash', '--output', 'json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ reply: 'Done.', stop: 'done', steps: 2, toolCalls: 1, provider: 'anthropic', cwd: at.in },
      ...{ usage: { input: 200, output: 20 }, costUsd: expect.any(Number), session: expect.stringMatching(/^\d{8}-/) },
    })
  })

  it('gives null for a cost that the provider does not tell', async () => {
    const at = await place(() => ({ text: 'Done.' }))
    const whole = await run(at, ['-p', 'Do it.', '--output', 'json'])
    expect(JSON.parse(whole.stdout)).toMatchObject({ usage: { calls: 1 }, costUsd: null })
    const lines = await run(at, ['-p', 'Do it.', '--output', 'stream-json'])
    const end = JSON.parse(lines.stdout.trimEnd().split('\n').at(-1) ?? '') as unknown
    expect(end).toMatchObject({ type: 'end', answer: { usage: { calls: 1 }, costUsd: null } })
  })

  it('gives what happens as one object a line', async () => {
    const at = await place(inTurn(bash('true'), { text: 'Done.', usage }))
    const { stdout } = await run(at, ['-p', 'Do it.', '--allow', 'bash', '--output=stream-json'])
    const parts = stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { type: string })
    expect(parts[0]).toMatchObject({ type: 'session', provider: 'anthropic' })
    const types = new Set(parts.map(({ type }) => type))
    expect([...types]).toEqual(['session', 'step', 'text', 'tool-call', 'tool-result', 'end'])
    expect(parts.at(-1)).toMatchObject({ type: 'end', answer: { text: 'Done.', stop: 'done' } })
  })

  it('ends with 3 at its last step, and goes on with --resume', async () => {
    const at = await place(inTurn(bash('true'), { text: 'Now it is done.', usage }))
    const ended = await run(at, ['-p', 'Do it.', '--allow', 'bash', '--max-steps', '1'])
    expect(ended).toMatchObject({ code: 3, stdout: '[Max turns reached]\n' })
    expect(ended.stderr).toMatch(/entia: stopped \(max-steps\)\. To go on: entia --resume \d{8}-\S+\n$/)
    expect(await run(at, ['run', '--resume', 'Go on.'])).toMatchObject({ code: 0, stdout: 'Now it is done.\n' })
    expect(at.server.requests[1]?.body['messages']).toHaveLength(5)
  })

  it('ends with 1 when it fails, and says why', async () => {
    const at = await place(inTurn({ failure: 'unauthorized' }))
    const ended = await run(at, ['-p', 'Hello'])
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toMatch(
      /^entia: unauthorized: .*x-api-key\. Check ANTHROPIC_API_KEY and the account behind it\.\n$/,
    )
  })

  it('ends with 130 when it is interrupted, and its process with it', async () => {
    const begun = Promise.withResolvers<void>()
    const at = await place(() => {
      begun.resolve()
      return new Promise(() => undefined)
    })
    const program = new Program(['-p', 'Think.'], at)
    await Promise.race([begun.promise, program.ended])
    program.child.kill('SIGINT')
    expect(await program.ended).toMatchObject({ code: 130, stdout: '' })
  })

  it.for([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('leaves its turn open on %s, names the chat, and --resume goes on', async ([name, code]) => {
    const begun = Promise.withResolvers<void>()
    let asked = 0
    const at = await place(() => {
      begun.resolve()
      return asked++ === 0 ? new Promise(() => undefined) : { text: 'Here it is.', usage }
    })
    const program = new Program(['-p', 'Think.'], at)
    await Promise.race([begun.promise, program.ended])
    program.child.kill(name)
    const ended = await program.ended
    expect(ended).toMatchObject({ code, stdout: '' })
    const [, key = ''] = /^entia: stopped\. To go on: entia --resume (\S+)\n$/.exec(ended.stderr) ?? []
    expect(await run(at, ['-p', 'And?', '--resume', key])).toMatchObject({ code: 0, stdout: 'Here it is.\n' })
    expect(JSON.stringify(at.server.requests.at(-1)?.body)).not.toContain('turn cancelled')
  })

  it('goes on without a pipe that stays open and silent, and says so', async () => {
    const at = await place(inTurn({ text: 'Here I am.', usage }))
    const program = new Program(['-p', 'Hello?'], { ...at, input: null })
    const { code, stderr, stdout } = await program.ended
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Here I am.\n' })
    expect(stderr).toMatch(/^entia: nothing was piped in for 5 s, and the prompt goes without it\./)
  })

  it('cuts a file that the prompt names between two characters', async () => {
    const at = await place(inTurn({ text: 'Read.', usage }))
    await writeFile(join(at.in, 'big.txt'), `${'a'.repeat(49_999)}${'😀'.repeat(9)}`)
    expect(await run(at, ['-p', 'Read @big.txt'])).toMatchObject({ code: 0 })
    const said = lastText(at.server.requests[0] as Received)
    expect(said).toContain('aaa\\n[cut here]')
    expect(said.isWellFormed() && !said.includes('\uFFFD')).toBe(true)
  })

  it('ends quietly when its output is closed', async () => {
    const begun = Promise.withResolvers<void>()
    const at = await place(() => {
      begun.resolve()
      return { text: 'Nobody reads this.', usage, latencyMs: 200 }
    })
    const program = new Program(['-p', 'Speak.'], at)
    await Promise.race([begun.promise, program.ended])
    program.child.stdout?.destroy()
    const { code, stderr } = await program.ended
    expect({ code, stderr }).toEqual({ code: 141, stderr: '' })
  })

  it('ends quietly when its output is closed after the first of many lines', async () => {
    const at = await place(() => ({ text: 'Nobody reads this.', usage, latencyMs: 200 }))
    const program = new Program(['-p', 'Speak.', '--output', 'stream-json'], at)
    program.child.stdout?.once('data', () => program.child.stdout?.destroy())
    const { code, stderr } = await program.ended
    expect({ code, stderr }).toEqual({ code: 141, stderr: '' })
  })
})
