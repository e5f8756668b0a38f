import { SystemPrompt, textOf } from 'entia'
import { describe, expect, it } from 'vitest'
import { tool } from '../turns/tools.ts'
import { call, calls, delegate, stepwise, type Team, team, type TeamOptions } from './team.ts'

const tools = [tool('b', () => 'B'), tool('a', () => 'A')]
const noTools = '\n\n## Available Tools\n- none'
const noSkills = '\n\n## Available Skills\n- none'

/** A team whose lead has asked a researcher of this config, and what that was asked with at first. */
async function asked(
  config: NonNullable<TeamOptions['subagents']>[string],
  options: TeamOptions = {},
): Promise<Team & { readonly system: string; readonly prompt: string }> {
  const made = team({ subagents: { researcher: config }, lead: stepwise(calls(delegate('a'))), ...options })
  await made.run()
  const request = made.asked('worker')[0]?.request
  return { ...made, system: request?.system ?? '', prompt: textOf([...(request?.messages ?? [])][0]) }
}

describe('the prompt of a subagent', () => {
  const money = 'It costs $5, not $$ or ${HOME}'

  it('keeps money, variables and the marks of replacements as they are written', async () => {
    const { system } = await asked({ systemPrompt: `${money}, $& $' $1 $` })
    expect(system).toBe(`${money}, $& $' $1 $${noTools}${noSkills}`)
  })

  it("keeps them in what it inherits, and where the template lists the agent's parts", async () => {
    const { system } = await asked(
      { systemPrompt: `${money} \${_installed_tools} ${money}` },
      { agent: { system: money } },
    )
    expect(system).toBe(`${money} - none ${money}\n\n${money}${noSkills}`)
  })

  it('ends with its tools by code point, and with its skills', async () => {
    const { system } = await asked({ systemPrompt: 'You look.', tools: ['b', 'a'] }, { runner: { tools } })
    expect(system).toBe('You look.\n\n## Available Tools\n- a\n- b\n\n## Available Skills\n- none')
  })

  it('gets no second list of what it lists itself', async () => {
    const { system } = await asked(
      { systemPrompt: 'Use:\n${_installed_tools}\nwell.', tools: ['a'] },
      { runner: { tools } },
    )
    expect(system).toBe(`Use:\n- a\nwell.${noSkills}`)
  })

  it('gets no second list of what the inherited part lists', async () => {
    const agent = { system: 'Know:\n${_installed_skills}' }
    const { system } = await asked({ systemPrompt: 'C' }, { agent })
    expect(system).toBe(`C\n\nKnow:\n- none${noTools}`)
  })

  it('is its lists alone where there is no text', async () => {
    const { system } = await asked({})
    expect(system).toBe(`${noTools}${noSkills}`.trimStart())
  })

  it.each([
    ['its own, a blank line and that of its parent', { systemPrompt: 'C' }, `C\n\nP${noTools}${noSkills}`],
    ['that of its parent, where it has none', { systemPrompt: '' }, `P${noTools}${noSkills}`],
    [
      'its own alone, where it does not inherit',
      { systemPrompt: 'C', inheritancePolicy: { inheritSystemPrompt: false } },
      `C${noTools}${noSkills}`,
    ],
  ])('is %s', async (_, config, expected) => {
    const { system } = await asked(config, { agent: { system: 'P' } })
    expect(system).toBe(expected)
  })

  it("is filled in from its own parts, not from its parent's", async () => {
    const agent = { system: 'Tools:\n${_installed_tools}', tools }
    const { system, ...made } = await asked({ tools: ['a'] }, { agent, runner: { tools } })
    expect(system).toBe(`Tools:\n- a${noSkills}`)
    expect(made.asked('lead')[0]?.request.system).toContain('- a\n- b\n- subagent\n')
  })

  it('follows the template of its parent as that is at the launch', async () => {
    const made = team({ agent: { system: 'Before.' }, lead: stepwise('Ready.', calls(delegate('a'))) })
    await made.run()
    await made.runner.change((world) => world.set(made.lead, SystemPrompt, { template: 'After.' }))
    await made.runner.message(made.lead, 'Delegate')
    await made.runner.idle()
    expect(made.asked('worker')[0]?.request.system).toBe(`After.${noTools}${noSkills}`)
  })

  it('does not read again what was filled in', async () => {
    const subagents = {
      researcher: {
        description: 'Finds ${_installed_tools} and $&',
        inheritancePolicy: { inheritTools: ['subagent'] },
      },
      analyst: {},
    }
    const made = team({
      subagents,
      agent: { system: 'Ask:\n${_installed_subagents}\n${_installed_mcps}' },
      lead: stepwise(calls(delegate('a'))),
    })
    await made.run()
    const list = 'Ask:\n- analyst\n- researcher: Finds ${_installed_tools} and $&\n- none'
    expect(made.asked('lead')[0]?.request.system).toBe(list)
    expect(made.asked('worker')[0]?.request.system.startsWith(`${list}\n\n## Available Tools\n- subagent\n`)).toBe(true)
  })

  it('keeps an unknown placeholder, with one warning however many steps there are', async () => {
    const { system, told } = await asked(
      { systemPrompt: 'See ${_installed_friends}.', tools: ['a'] },
      { runner: { tools }, worker: stepwise(calls(call('x', 'a')), calls(call('y', 'a')), 'Done.') },
    )
    expect(system.startsWith('See ${_installed_friends}.\n\n')).toBe(true)
    const warnings = told('warning').map(({ message }) => message)
    expect(warnings).toEqual([expect.stringContaining('${_installed_friends}')])
  })
})

describe('the task of a subagent', () => {
  it.each([
    'It costs $5, not $$ or ${HOME}',
    '  \n spaced\t\r\n',
    'Use ${_installed_tools} and {name}',
    'ünïcödé 👩‍🚀 \u0000',
  ])('is its first message, byte for byte: %j', async (task) => {
    const made = await asked({ systemPrompt: 'C' }, { lead: stepwise(calls(delegate('a', { prompt: task }))) })
    expect([...(made.asked('worker')[0]?.request.messages ?? [])]).toEqual([
      { role: 'user', content: [{ type: 'text', text: task }] },
    ])
    expect(made.sessions()[0]?.status).toBe('succeeded')
  })
})

describe('the form of the answer', () => {
  it('is asked for at the end of the prompt of a subagent in the background, and of no other', async () => {
    const lead = stepwise(calls(delegate('a', { prompt: 'Now' }), delegate('b', { prompt: 'Later', background: true })))
    const { asked: requests } = await asked({ systemPrompt: 'C' }, { lead })
    const systems = new Map(
      requests('worker').map(({ request }) => [textOf([...request.messages][0]), request.system] as const),
    )
    expect(systems.get('Now')).toBe(`C${noTools}${noSkills}`)
    expect(systems.get('Later')?.startsWith(`C${noTools}${noSkills}\n\n`)).toBe(true)
    expect(systems.get('Later')).toContain('<subagent_background_result>')
  })
})
