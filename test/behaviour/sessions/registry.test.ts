import { Conversation, memoryStore, SubagentRegistry, type ToolDeclaration, user } from 'entia'
import { ToolRegistry } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { emptyWorld, rejection, reopened } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { call, calls, delegate, stepwise, team } from './team.ts'

const six = ['subagent', 'subagent_status', 'subagent_result', 'subagent_cancel', 'subagent_wait', 'subagent_resume']

function namesOf(tools: readonly Pick<ToolDeclaration, 'name'>[] | undefined): string[] {
  return (tools ?? []).map(({ name }) => name)
}

describe('a subagent registry', () => {
  const researcher = { name: 'researcher', model: 'worker/x' }

  it.each<[string, object]>([
    ['whose key is not the name', { subagents: { analyst: researcher } }],
    ['with an empty name', { subagents: { '': { name: '' } } }],
    ['with blanks around a name', { subagents: { ' a': { name: ' a' } } }],
    ["with the name 'fork'", { subagents: { fork: { name: 'fork' } } }],
    ['without a name', { subagents: { researcher: {} } }],
    ['with no steps', { subagents: { researcher: { ...researcher, maxSteps: 0 } } }],
    ['with half a step', { subagents: { researcher: { ...researcher, maxSteps: 1.5 } } }],
    ['with an unknown key of a subagent', { subagents: { researcher: { ...researcher, mood: 'good' } } }],
    ['with an unknown key', { subagents: {}, mood: 'good' }],
    [
      'with an unknown policy',
      { subagents: { researcher: { ...researcher, inheritancePolicy: { toolConflictPolicy: 'maybe' } } } },
    ],
    ['with an unknown key of a policy', { subagents: {}, freeForm: { inheritancePolicy: { inherit: true } } }],
    ['with free-form agents of no steps', { subagents: {}, freeForm: { enabled: true, maxSteps: 0 } }],
    ['with a negative limit', { subagents: { researcher: { ...researcher, limits: { tokens: -1 } } } }],
    ['without subagents', {}],
  ])('%s is refused where it is set', (_, wrong) => {
    const refusal = expect.objectContaining({ code: 'invalid-argument' })
    const data = wrong as Parameters<typeof SubagentRegistry>[0]
    const world = emptyWorld()
    const lead = world.spawn(SubagentRegistry({ subagents: { researcher } }))
    expect(() => SubagentRegistry(data)).toThrow(refusal)
    expect(() => world.set(lead, SubagentRegistry, data)).toThrow(refusal)
    expect(world.read(lead, SubagentRegistry)).toEqual({ subagents: { researcher } })
  })

  it('that a patch makes wrong is refused as well', () => {
    const world = emptyWorld()
    const lead = world.spawn(SubagentRegistry({ subagents: { researcher } }))
    const patch = (): void => world.patch(lead, SubagentRegistry, { subagents: { analyst: researcher } })
    expect(patch).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
    expect(world.read(lead, SubagentRegistry)).toEqual({ subagents: { researcher } })
  })
})

describe('the six tools of an agent with a registry', () => {
  const knock = tool('knock', () => 'Who is there?')
  const poet = { name: 'poet', description: 'Rhymes.' }

  it('are declared once and in order, behind its own, in every request', async () => {
    const lead = stepwise(calls(call('a', 'knock')), calls(delegate('b')))
    const made = team({ lead, agent: { tools: [knock] }, runner: { tools: [knock] } })
    await made.run()
    await made.runner.message(made.lead, 'Again')
    await made.runner.idle()
    const declared = made.asked('lead').map(({ request }) => namesOf(request.tools))
    expect(declared).toEqual(Array.from({ length: 4 }, () => ['knock', ...six]))
  })

  it('are there as well for an agent that has no tools of its own', async () => {
    const made = team()
    await made.run()
    expect(namesOf(made.asked('lead')[0]?.request.tools)).toEqual(six)
  })

  it('are the same after a restore', async () => {
    const store = memoryStore()
    const made = team({ agent: { tools: [knock] }, runner: { tools: [knock], store } })
    await made.run()
    await made.runner.stop()
    const { models = {}, tools = [] } = made.options
    const again = await reopened(store, { models, tools })
    await again.runner.start()
    await again.runner.message(made.lead, 'Again')
    await again.runner.idle()
    const [before, after] = made.asked('lead')
    expect(namesOf(after?.request.tools)).toEqual(['knock', ...six])
    expect(after?.request.tools).toEqual(before?.request.tools)
    expect(again.told('prefix-broken')).toEqual([])
  })

  it('are declared anew when the registry has changed', async () => {
    const made = team({ agent: { tools: [knock] }, runner: { tools: [knock] } })
    await made.run()
    await made.runner.change((world) => world.set(made.lead, SubagentRegistry, { subagents: { poet } }))
    await made.runner.message(made.lead, 'Again')
    await made.runner.idle()
    const [before, after] = made.asked('lead').map(({ request }) => request.tools)
    expect(namesOf(after)).toEqual(['knock', ...six])
    expect(JSON.stringify(before)).toContain('researcher')
    expect(JSON.stringify(after)).not.toContain('researcher')
    expect(JSON.stringify(after)).toContain('poet: Rhymes.')
  })

  it('stay in their place when the registry has changed and another tool has come', async () => {
    const later = tool('later', () => '')
    const made = team({ agent: { tools: [knock] }, runner: { tools: [knock, later] } })
    await made.run()
    await made.runner.change((world) => {
      const { tools } = world.read(made.lead, ToolRegistry)
      world.set(made.lead, ToolRegistry, { tools: [...tools, later.declaration] })
      world.set(made.lead, SubagentRegistry, { subagents: { poet } })
      world.append(made.lead, Conversation, user('Again'))
    })
    await made.runner.idle()
    expect(made.asked('lead').map(({ request }) => namesOf(request.tools))).toEqual([
      ['knock', ...six],
      ['knock', ...six, 'later'],
    ])
  })

  it('come to an agent that gets its registry while it is driven', async () => {
    const made = team({ registry: false })
    await made.run()
    await made.runner.change((world) => world.add(made.lead, SubagentRegistry({ subagents: {} })))
    await made.runner.message(made.lead, 'Again')
    await made.runner.idle()
    expect(made.asked('lead').map(({ request }) => namesOf(request.tools))).toEqual([[], six])
  })

  it.each(six)("leave no room for a tool of the user's that is called %s", async (name) => {
    const own = tool(name, () => '')
    const made = team({ agent: { tools: [own] }, runner: { tools: [own] } })
    expect(await rejection(made.runner.start())).toMatchObject({
      code: 'tool-conflict',
      message: expect.stringContaining(`'${name}'`),
    })
    expect(made.asked()).toEqual([])
  })

  it('do not keep an agent without a registry from a tool of that name', async () => {
    const own = tool('subagent', () => 'Mine.')
    const lead = stepwise(calls(call('a', 'subagent')))
    const made = team({ registry: false, lead, agent: { tools: [own] }, runner: { tools: [own] } })
    await made.run()
    expect(made.results()).toEqual({ a: 'Mine.' })
  })
})

describe('a subagent whose parts are not on this host', () => {
  const missing = [
    ['a model', { model: 'nowhere/x' }, "Unknown model 'nowhere/x'"],
    ['a model without a provider', { model: 'nowhere' }, "Unknown model 'nowhere'"],
    ['a tool', { tools: ['lathe'] }, "Unknown tool 'lathe'"],
  ] as const

  it.each(missing)('%s: its session fails, and its parent goes on', async (_, config, error) => {
    const made = team({ subagents: { researcher: config }, lead: stepwise(calls(delegate('a')), 'Never mind.') })
    await made.run()
    expect(made.results()).toEqual({ a: `Error: Subagent 'researcher' failed: ${error}` })
    expect(made.sessions()).toMatchObject([{ status: 'failed', error }])
    expect(made.asked('worker')).toEqual([])
    expect(made.told('turn-ended')).toMatchObject([{ stop: 'done' }])
  })

  it.each(missing)('%s: a session in the background fails and is notified', async (_, config, error) => {
    const lead = stepwise(calls(delegate('a', { background: true })))
    const made = team({ subagents: { researcher: config }, lead })
    await made.run()
    const [session] = made.sessions()
    expect(session).toMatchObject({ status: 'failed', error })
    expect(JSON.stringify([...(made.asked('lead').at(-1)?.request.messages ?? [])])).toContain(
      `- ${session?.sessionId} failed: ${error}.`,
    )
  })
})

it('an agent without a registry has none of the six tools', async () => {
  const made = team({ registry: false, lead: stepwise(calls(delegate('a'))) })
  await made.run()
  expect(made.asked('lead')[0]?.request.tools).toEqual([])
  expect(made.results()).toEqual({ a: 'Error: there is no tool named subagent.' })
})
