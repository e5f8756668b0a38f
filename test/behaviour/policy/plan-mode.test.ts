import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Conversation, type Message, textOf, user } from 'entia'
import { PlanMode, ToolRegistry } from 'entia/components'
import { exitPlanModeDeclaration } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { call, homeWith, judged, settledCalls, steps } from './judged-agent.ts'

const note = '[plan mode: investigate and propose; change nothing until exit_plan_mode is approved]'
const write = call('write_file', { path: 'b.ts', content: 'b' })
const leave = call('exit_plan_mode', { plan: 'Write b.ts.' })

/** An agent in plan mode that gets its message by an input. */
async function planning(options: Omit<Parameters<typeof judged>[0], 'home'>) {
  const home = await homeWith({ 'projects/app/a.ts': 'a' })
  const run = judged({ home, ...options, agent: { messages: [], ...options.agent } })
  const { agent, runner, world } = run
  world.add(agent, PlanMode)
  const tools = world.read(agent, ToolRegistry).tools
  world.set(agent, ToolRegistry, { tools: [...tools, exitPlanModeDeclaration] })
  await runner.start()
  await runner.post({ kind: 'message', agent, message: user('Plan it') })
  await runner.idle()
  return run
}

function texts({ content }: Message): string[] {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
}

describe('plan mode', () => {
  it('denies what writes and runs, and lets files be read', async () => {
    const behaviour = steps([write, call('bash', { command: 'ls' }), call('read_file', { path: 'a.ts' })])
    const run = await planning({ behaviour, approve: () => true, channel: 'console' })
    expect(transcript(run.world, run.agent).slice(2, 5)).toEqual([
      'tool call-1-0!: [entia policy denied: plan mode]',
      'tool call-1-1!: [entia policy denied: plan mode]',
      'tool call-1-2: 1\ta',
    ])
    expect(existsSync(join(run.cwd, 'b.ts'))).toBe(false)
  })

  it('closes each message of the user with a note, and leaves the system prompt as it is', async () => {
    const run = await planning({ behaviour: steps(), agent: { system: 'Be brief.' } })
    await run.runner.post({ kind: 'message', agent: run.agent, message: user('And then?') })
    await run.runner.idle()
    const messages = run.world.read(run.agent, Conversation).filter(({ role }) => role === 'user')
    expect(messages.map(texts)).toEqual([
      ['Plan it', note],
      ['And then?', note],
    ])
    expect(run.requests.map(({ system }) => system)).toEqual(['Be brief.', 'Be brief.'])
  })

  it('ends once the plan is approved, and the prefix of the request is unbroken', async () => {
    const asked: unknown[] = []
    const run = await planning({
      behaviour: steps([leave], [write]),
      channel: 'console',
      approve: ({ tool, arguments: given, mayRemember }) => asked.push({ tool, given, mayRemember }) > 0,
    })
    expect(asked).toEqual([{ tool: 'exit_plan_mode', given: { plan: 'Write b.ts.' }, mayRemember: false }])
    expect(run.world.has(run.agent, PlanMode)).toBe(false)
    expect(existsSync(join(run.cwd, 'b.ts'))).toBe(true)
    expect(run.told('prefix-broken')).toEqual([])
    await run.runner.post({ kind: 'message', agent: run.agent, message: user('Thanks') })
    await run.runner.idle()
    expect(textOf(run.world.read(run.agent, Conversation).findLast(({ role }) => role === 'user'))).toBe('Thanks')
    const [first, ...later] = run.requests
    for (const { tools, system } of later)
      expect({ tools, system }).toEqual({ tools: first?.tools, system: first?.system })
    expectValid(run.world, run.agent)
  })

  it('stays when the plan is refused', async () => {
    const run = await planning({ behaviour: steps([leave], [write]), approve: () => false })
    expect(run.world.has(run.agent, PlanMode)).toBe(true)
    expect(settledCalls(run).map(({ result }) => result)).toEqual([
      '[user declined: needs approval: exit_plan_mode]',
      '[entia policy denied: plan mode]',
    ])
  })

  it('cannot be ended when it is not on, and no one is asked', async () => {
    const run = await planning({ behaviour: steps([leave], [leave]), approve: () => true })
    expect(run.told('approval-requested')).toHaveLength(1)
    expect(settledCalls(run).map(({ result }) => result)).toEqual([
      'The plan is approved, and plan mode is off. Carry it out.',
      'Error: plan mode is not on.',
    ])
  })

  it('has a plan that says nothing refused before anyone is asked', async () => {
    const run = await planning({ behaviour: steps([call('exit_plan_mode', {})]), approve: () => true })
    expect(run.told('approval-requested')).toEqual([])
    expect(settledCalls(run)[0]?.result).toMatch(/^Error: Invalid arguments for 'exit_plan_mode'/)
  })

  it('that is switched on while a call is asked about has the call judged anew', async () => {
    const home = await homeWith()
    const run = judged({ home, behaviour: steps([write]), approve: 'by-input' })
    const asked = run.next('approval-requested')
    await run.runner.start()
    const { approval } = await asked
    await run.runner.change((world) => world.add(run.agent, PlanMode))
    await run.runner.post({ kind: 'answer', approval, approved: true })
    await run.runner.idle()
    expect(settledCalls(run)[0]?.result).toBe('[entia policy denied: plan mode]')
  })
})
