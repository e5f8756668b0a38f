import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import { type Handler, inTurn, type LoopbackServer } from '../servers/loopback.ts'
import { tempFolder } from '../tools/temp-folder.ts'
import { answerOf, only } from './asking.ts'
import { eventsOf, Program, run } from './program.ts'

const look = {
  text: 'I search.',
  toolCalls: [{ id: 'call_1', name: 'grep_files', arguments: '{"pattern":"bees"}' }],
  usage: { input: 100, output: 10 },
}
const answer = {
  text: 'They sleep.\n\nbees.md:1\n> At night bees sleep.',
  usage: { input: 20, cacheRead: 100, output: 12 },
}

// A process takes its time to begin, more so where many do.
vi.setConfig({ testTimeout: 60_000 })

const asked = ['files', '--question', 'What do bees do at night?', '--json']

async function served(handler: Handler): Promise<{ server: LoopbackServer; in: string; env: Record<string, string> }> {
  const server = await startAnthropicServer(handler)
  onTestFinished(() => server.close())
  const here = await tempFolder({ 'files/bees.md': 'At night bees sleep.\n' })
  return { server, in: here, env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'secret-key', NO_PROXY: '*' } }
}

describe('with the key of a provider', () => {
  it('the same program asks its model, which reads the same files', async () => {
    const { server, ...place } = await served(inTurn(look, answer))
    const ended = await run(asked, place)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(only('run-started', eventsOf(ended))[0]?.model).toMatch(/^anthropic\/claude-/)
    expect(only('tool-answered', eventsOf(ended))[0]).toMatchObject({
      text: 'bees.md:1: At night bees sleep.',
      isError: false,
    })
    expect(answerOf(eventsOf(ended))).toBe(answer.text)
    const usage = { input: 120, cacheRead: 100, output: 22 }
    expect(only('run-ended', eventsOf(ended))[0]).toMatchObject({ modelCalls: 2, toolCalls: 1, usage })
    expect(server.requests[1]?.text).toContain('bees.md:1: At night bees sleep.')
  })

  it('a run that is killed asks again what was not answered, byte for byte, and nothing else', async () => {
    const asksAgain = Promise.withResolvers<void>()
    const answers = inTurn(look, 'silence', answer)
    const { server, ...place } = await served((received) => {
      if (server.requests.length === 2) asksAgain.resolve()
      return answers(received)
    })
    const program = new Program(asked, place)
    await asksAgain.promise
    await program.kill()
    const resumed = await run(['--resume', '--json'], place)
    expect(answerOf(eventsOf(resumed))).toBe(answer.text)
    expect(server.requests).toHaveLength(3)
    expect(server.requests[2]?.text).toBe(server.requests[1]?.text)
  })

  it('that is refused the run ends without an answer, and says which variable to look at', async () => {
    const { server, ...place } = await served(() => ({ failure: 'unauthorized' }))
    const ended = await run(asked, place)
    expect(ended.code).toBe(1)
    expect(ended.stderr).toBe(
      'entia: ask-1 ended without an answer (unauthorized). anthropic failed (401 authentication_error): ' +
        'invalid x-api-key Check ANTHROPIC_API_KEY and the account behind it.\n',
    )
    expect(only('run-ended', eventsOf(ended))[0]).toMatchObject({
      stop: 'failed',
      answer: '',
      failure: { kind: 'unauthorized' },
    })
    expect(server.requests).toHaveLength(1)
  })

  it('of another provider than that of the interrupted run, the run waits for its own', async () => {
    const place = await served(() => 'silence')
    const program = new Program(asked, place)
    await program.until(({ type }) => type === 'model-called')
    await program.kill()
    const refused = await run(['--resume'], { in: place.in, env: { OPENAI_API_KEY: 'other' } })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('ANTHROPIC_API_KEY is not set')
  })
})
