import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { type Handler, inTurn, type LoopbackServer, type Reply } from '../../servers/loopback.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import type { AskEvent } from '../../../src/cli/ask-event.ts'
import { answerOf, only } from '../../cli/asking.ts'
import { eventsOf, Program, run } from '../../cli/program.ts'

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

const ofSession = { input: 7, output: 5 }

/** A lead that delegates, and its researcher: each answers by what it is told, so that the order of the calls is nothing. */
function team(onceAsked: () => void = () => undefined): Handler {
  return ({ body, text }) => {
    const isLead = (body['tools'] as { name: string }[]).some(({ name }) => name === 'subagent')
    const results = text.match(/"tool_use_id"/g)?.length ?? 0
    if (!isLead && results === 0) return { ...look, usage: ofSession }
    if (!isLead) return text.includes('And by day?') ? { text: 'They fly.' } : { text: enveloped, usage: ofSession }
    const id = /session-[0-9a-f]{16}/.exec(text)?.[0] ?? ''
    if (results === 0) return callOf('subagent', { category: 'researcher', prompt: task, background: true })
    if (results === 1) return callOf('subagent_wait', { mode: 'all' })
    if (results === 2) onceAsked()
    if (results === 2) return callOf('subagent_result', { session_id: id, read_method: 'summary' })
    if (results === 3) return callOf('query_subagent', { id, prompt: 'And by day?' })
    return { text: answer.text }
  }
}

const task = 'What do bees do at night?\n\nLook only in: bees.md'
const enveloped =
  '<subagent_background_result><summary>They sleep.</summary><full_result>bees.md:1</full_result></subagent_background_result>'

function callOf(name: string, input: object): Reply {
  return { toolCalls: [{ id: `call_${name}`, name, arguments: JSON.stringify(input) }] }
}

describe('a model that leads', () => {
  it('sends researchers of the same model out, sleeps, reads what they found, and asks them further', async () => {
    const { server, ...place } = await served(team())
    const events = eventsOf(await run(['ask', ...asked], place))
    expect(answerOf(events)).toBe(answer.text)
    const [researcher] = only('session-started', events)
    expect(researcher).toMatchObject({ name: 'bees.md', task })
    expect(only('session-ended', events)).toMatchObject([{ status: 'succeeded', note: 'They sleep.' }])
    const answers = only('tool-answered', events).filter(({ path }) => path === undefined)
    expect(answers.map(({ tool, text }) => [tool, text])).toEqual([
      ['subagent', expect.stringContaining('"lifecycle_status":"queued"')],
      ['subagent_wait', 'Waiting for background subagents. Will be notified when they complete.'],
      ['subagent_result', expect.stringContaining('"inline_content":"They sleep."')],
      ['query_subagent', 'They fly.'],
    ])
    const ofResearcher = server.requests.filter(({ text }) => text.includes('You look into a part of a folder'))
    expect(ofResearcher).toHaveLength(3)
    expect(new Set(server.requests.map(({ body }) => body['model'])).size).toBe(1)
    const first = ofResearcher[0]?.text ?? ''
    expect(first).toContain('<subagent_background_result>')
    expect(first).not.toContain('"name":"subagent"')
    expect(only('run-ended', events)[0]).toMatchObject({ sessions: 1, modelCalls: 8, toolCalls: 5 })
  })

  it('is not asked again, nor are its researchers, what they have answered before the process was killed', async () => {
    const asksAgain = Promise.withResolvers<void>()
    const { server, ...place } = await served(team(() => asksAgain.resolve()))
    const program = new Program(['ask', ...asked], place)
    await asksAgain.promise
    await program.kill()
    const before = server.requests.length
    const events = eventsOf(await run(['ask', '--resume', '--json'], place))
    expect(answerOf(events)).toBe(answer.text)
    const [started] = only('run-started', events)
    expect(started?.before?.tree).toMatchObject([{ name: 'bees.md', status: 'succeeded', modelCalls: 2, toolCalls: 1 }])
    // What was asked when the process was killed is asked once more, if it had not been answered.
    const texts = server.requests.map(({ text }) => text)
    expect(texts.length - new Set(texts).size).toBeLessThanOrEqual(1)
    expect(new Set(texts).size).toBe(8)
    expect(before).toBeGreaterThanOrEqual(5)
    expect(only('run-ended', events)[0]).toMatchObject({ sessions: 1, modelCalls: 8, toolCalls: 5 })
  })
})

describe('a lead that has nothing more to say while its researcher is out', () => {
  it('is woken when that is done, in another process too', async () => {
    let isKilled = false
    const place = await served(({ body, text }) => {
      const isLead = (body['tools'] as { name: string }[]).some(({ name }) => name === 'subagent')
      if (!isLead && !isKilled) return 'silence'
      if (!isLead) return { text: enveloped }
      if (text.includes('Background subagent updates:')) return { text: answer.text }
      if (text.includes('"tool_use_id"')) return { text: 'Somebody is looking.' }
      return callOf('subagent', { category: 'researcher', prompt: task, background: true })
    })
    const program = new Program(['ask', ...asked], place)
    const replies: AskEvent[] = []
    await program.until((event) => {
      if (event.type === 'model-replied') replies.push(event)
      return replies.length === 2
    })
    await program.kill()
    isKilled = true
    const events = eventsOf(await run(['ask', '--resume', '--json'], place))
    expect(only('run-started', events)[0]?.before?.isFinished).toBe(false)
    expect(answerOf(events)).toBe(answer.text)
  })
})

describe('with the key of a provider', () => {
  it('the same program asks its model, which reads the same files', async () => {
    const { server, ...place } = await served(inTurn(look, answer))
    const ended = await run(['ask', ...asked], place)
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
    const program = new Program(['ask', ...asked], place)
    await asksAgain.promise
    await program.kill()
    const resumed = await run(['ask', '--resume', '--json'], place)
    expect(answerOf(eventsOf(resumed))).toBe(answer.text)
    expect(server.requests).toHaveLength(3)
    expect(server.requests[2]?.text).toBe(server.requests[1]?.text)
  })

  it('that is refused the run ends without an answer, and says which variable to look at', async () => {
    const { server, ...place } = await served(() => ({ failure: 'unauthorized' }))
    const ended = await run(['ask', ...asked], place)
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
    const program = new Program(['ask', ...asked], place)
    await program.until(({ type }) => type === 'model-called')
    await program.kill()
    const refused = await run(['ask', '--resume'], { in: place.in, env: { OPENAI_API_KEY: 'other' } })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('ANTHROPIC_API_KEY is not set')
  })
})
