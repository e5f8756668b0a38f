import { agent, SubagentRegistry } from 'entia'
import { describe, expect, it } from 'vitest'
import { after, answered, answerOf, inBackground } from './pace.ts'
import { call, calls, provider, stepwise, team } from './team.ts'

describe('the name of a session', () => {
  const tools = ['subagent_status', 'subagent_result', 'subagent_cancel', 'subagent_resume']

  it.each(['session-0123456789abcdef', 'ghost', '7'])('that is none, such as %s, is not found', async (session_id) => {
    const asking = calls(...tools.map((name) => call(name, name, { session_id })))
    const made = team({ lead: stepwise(calls(inBackground('a', 'A')), asking) })
    await made.run()
    for (const name of tools)
      expect(answered(made, name), name).toMatchObject({ status: 'error', error: `Session not found: ${session_id}` })
    expect(answered(made, 'subagent_result')).toEqual({
      status: 'error',
      session_id,
      category: null,
      lifecycle_status: null,
      read_method: 'full',
      artifact_id: null,
      record_path: null,
      inline_content: null,
      error: `Session not found: ${session_id}`,
    })
    expect(made.sessions()).toHaveLength(1)
  })

  it('of another agent is not found, and that session runs on', async () => {
    let named = ''
    const stranger = provider('stranger', (request, context) =>
      stepwise(calls(...tools.map((name) => call(name, name, { session_id: named }))))(request, context),
    )
    const made = team({
      runner: { models: { stranger } },
      worker: after(100, 'Done.'),
      lead: stepwise(calls(inBackground('a', 'A'))),
    })
    const other = made.world.spawn(
      ...agent({ model: 'stranger/x', messages: [] }),
      SubagentRegistry({ subagents: { researcher: { name: 'researcher', model: 'worker/x' } } }),
    )
    const begun = made.next('delegation-started')
    await made.runner.start()
    named = (await begun).sessionId
    await made.runner.message(other, 'Look')
    await made.runner.idle()
    for (const name of tools)
      expect(answerOf(made.world, other, name), name).toMatchObject({
        status: 'error',
        error: `Session not found: ${named}`,
      })
    expect(made.sessions()).toMatchObject([{ sessionId: named, status: 'succeeded' }])
  })
})
