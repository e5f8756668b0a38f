import { type AgentOptions, fail, memoryStore, type ModelRequest, type ScriptedReply, textOf } from 'entia'
import { Ledger, Subtask } from 'entia/components'
import { builtinTools } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { mortalStore } from '../stores/watched-store.ts'
import { behaving, driven, gate, mortal, reopened, settled, turns, worldWith } from '../turns/driving.ts'

const tools = builtinTools({ cwd: '.', tools: ['chat'] }).filter(({ declaration }) => declaration.name === 'chat')
const usage = { input: 1_000, output: 1_000 }
const prices = { scripted: { input: 10, output: 0 } }

/** Runs an agent whose model asks by `chat` once. What it asks is answered by `answer`. */
async function chatted(
  input: object,
  answer: (request: ModelRequest) => ScriptedReply = () => 'Forty-two.',
  options: Partial<AgentOptions> = {},
) {
  const made = worldWith({ tools, ...options })
  const { models, requests } = behaving(
    (request) => {
      if (request.tools.length === 0) return answer(request)
      return request.messages.length > 1 ? 'Done.' : { toolCalls: [{ name: 'chat', arguments: input as never }] }
    },
    { usage },
  )
  const { told } = await settled(made.world, { models, tools, prices })
  const answers = transcript(made.world, made.agent).filter((line) => line.startsWith('tool'))
  return { ...made, asked: requests.filter((request) => request.tools.length === 0), answers, told }
}

const forever = () => new Promise<never>(() => undefined)

describe('chat', () => {
  it('asks the model of the agent once, with the prompt alone, and gives its text', async () => {
    const { asked, answers } = await chatted({ prompt: 'What is it?' })
    expect(answers).toEqual(['tool call-1-0: Forty-two.'])
    expect(asked).toHaveLength(1)
    const [request] = asked
    expect(request).toMatchObject({ model: 'x', system: '', tools: [] })
    expect([...(request?.messages ?? [])].map((message) => textOf(message))).toEqual(['What is it?'])
  })

  it('asks another model, under a system prompt and a limit of its own', async () => {
    const { asked } = await chatted({ prompt: 'What?', model: 'tiny', system: 'Be brief.', maxTokens: 7 })
    expect(asked).toMatchObject([{ model: 'tiny', system: 'Be brief.', options: { maxOutputTokens: 7 } }])
    expect((await chatted({ prompt: 'What?', model: 'scripted/other' })).asked).toMatchObject([{ model: 'other' }])
  })

  it.each<[string, object, (request: ModelRequest) => ScriptedReply, unknown]>([
    ['an unknown provider', { prompt: 'What?', model: 'nobody/x' }, () => '', "!: Error: Unknown model 'nobody/x'"],
    [
      'a model that refuses',
      { prompt: 'What?' },
      () => fail('refused', { message: 'Not this.' }),
      expect.stringMatching(/^!: Error: .*Not this\./),
    ],
    ['no prompt', {}, () => '', expect.stringMatching(/^!: Error: Invalid arguments for 'chat': prompt: /)],
    [
      'an unknown argument',
      { prompt: 'x', topic: 'y' },
      () => '',
      expect.stringMatching(/^!: Error: Invalid arguments for 'chat': .*topic/),
    ],
    [
      'a cut answer',
      { prompt: 'x' },
      () => ({ text: 'Forty', stop: 'max-tokens' }),
      ': Forty\n[cut at the output limit]',
    ],
    ['a long answer', { prompt: 'x' }, () => 'y'.repeat(50_003), `: ${'y'.repeat(50_000)}\n[3 characters left out]`],
  ])('answers %s in words', async (_, input, answer, expected) => {
    const [line = ''] = (await chatted(input, answer)).answers
    const text = line.replace('tool call-1-0', '')
    expect(text).toEqual(expected)
  })

  it('is charged to the agent, and not made once its turn has spent its budget', async () => {
    const within = await chatted({ prompt: 'x' }, undefined, { config: { ceilings: { max_turn_cost_usd: 1 } } })
    expect(within.world.get(within.agent, Ledger)?.models['scripted/x']).toMatchObject({ calls: 3, input: 3_000 })
    const { asked, told, agent } = await chatted({ prompt: 'x' }, undefined, {
      config: { ceilings: { max_turn_cost_usd: 0.01 } },
    })
    expect(asked).toEqual([])
    expect(told('turn-ended').filter(({ path }) => path === undefined)).toMatchObject([{ agent, stop: 'budget-spent' }])
  })

  it('goes on after a restart', async () => {
    const kept = memoryStore()
    const { die, store } = mortalStore(kept)
    const asked = gate()
    let isDead = false
    const { models } = behaving(async (request) => {
      if (request.tools.length > 0) {
        return request.messages.length > 1 ? 'Done.' : { toolCalls: [{ name: 'chat', arguments: { prompt: 'x' } }] }
      }
      asked.resolve()
      if (!isDead) await forever()
      return 'Forty-two.'
    })
    const { world, agent } = worldWith({ tools })
    await mortal(world, { models, tools, store }).runner.start()
    await asked.promise
    isDead = true
    die()
    await turns()
    const again = await reopened(kept, { models, tools })
    expect(again.world.query(Subtask)).toHaveLength(1)
    await again.runner.start()
    await again.runner.idle()
    expect(transcript(again.world, agent).slice(2)).toEqual(['tool call-1-0: Forty-two.', 'assistant: Done.'])
  })

  it('ends with the turn that is cancelled', async () => {
    const asked = gate()
    const { models } = behaving(async (request) => {
      if (request.tools.length > 0) return { toolCalls: [{ name: 'chat', arguments: { prompt: 'x' } }] }
      asked.resolve()
      return forever()
    })
    const { world, agent } = worldWith({ tools })
    const { runner } = driven(world, { models, tools })
    await runner.start()
    await asked.promise
    await runner.cancel(agent)
    await runner.idle()
    expect(transcript(world, agent).at(-1)).toContain('cancelled')
    expect(world.query(Subtask)).toEqual([])
  })
})
