import { Policy, PolicyState, type Remembered } from '../../../components/agent/policy.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { contextCommand } from '../../doors/context.ts'
import { formatUsd } from '../../rules/money/usd.ts'
import { approvalOf } from '../../protocol/policy.ts'
import { rulesOf } from '../../rules/policy/remembered.ts'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import { listWorkspace, pinResult } from '../../runtime/workspace/chat-workspace.ts'
import type { DeepReadonly } from '../../world/component.ts'
import { didYouMean } from '../../base/near-names.ts'
import { skillsOfTool } from '../../runtime/skills/skill-tool.ts'
import { skillLines } from '../skill-lines.ts'
import { visibleText } from '../../tools/files/clean-text.ts'
import { durationText, numberText } from '../terminal/amounts.ts'
import { serverPromptHelp } from './server-prompt.ts'
import { slashHelp, type SlashName } from './slash-commands.ts'

/** What `/new`, `/rewind` and `/quit` do is the chat's own. */
export type SessionAction = Exclude<SlashName, 'new' | 'rewind' | 'quit'>

/** Carries out a slash command on a chat session, and gives what to show. @throws EntiaError */
export async function slashAction(name: SessionAction, rest: string, session: ChatSession): Promise<string> {
  switch (name) {
    case 'help':
      return [...slashHelp(), ...serverPromptHelp(session)].join('\n')
    case 'agents':
      return agentsText(session)
    case 'context':
    case 'stats':
    case 'compact':
    case 'done':
    case 'resume-after-cost-ceiling':
    case 'resume-after-watchdog':
      return contextText(name, rest, session)
    case 'permissions':
      // Before, the chat session has neither its policy nor the tools of servers.
      await session.start()
      return rest === '' ? permissionsText(session) : changePermission(session, rest)
    case 'shells':
      return rest === '' ? shellsText(session) : stopShell(session, rest)
    case 'plan':
      await session.setPlanMode(!session.planMode)
      return session.planMode
        ? 'Plan mode is on: the agent reads, and changes nothing until you approve its plan.'
        : 'Plan mode is off.'
    case 'skills':
      return skillsText(session)
    case 'workspace':
      return rest === '' ? workspaceText(session) : pinNamed(session, rest)
    case 'model':
      if (rest !== '') await session.setModel(rest)
      return `${session.provider}/${session.model}`
    default:
      return name satisfies never
  }
}

async function contextText(name: SlashName, rest: string, session: ChatSession): Promise<string> {
  await session.start()
  const { text } = await contextCommand(session.runner, session.agent, `/${name} ${rest}`)
  return text ?? `/${name} is switched off here: see context in the configuration.`
}

async function skillsText({ runner }: ChatSession): Promise<string> {
  const skills = await skillsOfTool(runner.host.tool('skill'))
  if (skills.length === 0) return 'The agent has no skills here. Install one: entia skills install SOURCE'
  return [...skillLines(skills), 'Name one in a message to have it used.'].join('\n')
}

/** Most results that are listed, the newest. */
const maxListed = 40

function workspaceText(session: ChatSession): string {
  const items = listWorkspace(session)
  if (items.length === 0) return 'The agent keeps no results yet.'
  const rows = items.slice(-maxListed).map(({ isPinned, isStale, name, origin, sizeBytes, turn, type }) => {
    const mark = `${isPinned ? '*' : ' '}${isStale ? '~' : ' '}`
    // A key that says what it is for needs no more.
    const from = /^(?:bash|file|grep|search):/.test(name) ? '' : `: ${visibleText(origin)}`
    return `${mark} ${visibleText(name)}  ${type}, ${numberText(sizeBytes)} bytes, turn ${turn}${from}`
  })
  const earlier = items.length - rows.length
  const more = earlier === 0 ? [] : [`   … and ${earlier} earlier ones`]
  return [...more, ...rows, '* is pinned, ~ is out of date. /workspace pin NAME keeps one.'].join('\n')
}

async function pinNamed(session: ChatSession, rest: string): Promise<string> {
  const [, word, name] = /^(pin|unpin)\s+(.+)$/s.exec(rest) ?? []
  if (word === undefined || name === undefined) return 'Write /workspace, /workspace pin NAME or /workspace unpin NAME.'
  if (await pinResult(session, name, word === 'pin')) return `${name} is ${word}ned.`
  const names = new Set(listWorkspace(session).map((item) => item.name))
  return `There is no result ${name}.${didYouMean(name, names)}`
}

async function agentsText(session: ChatSession): Promise<string> {
  const own = `${session.provider}/${session.model}  ${session.isBusy ? 'at work' : 'waiting for you'}`
  const rows = (await session.agents()).map(
    ({ ageMs, category, model, prompt, sequence, status, usage: { costNanoUsd } }) => {
      const cost = costNanoUsd === undefined ? '' : `${formatUsd(costNanoUsd)}  `
      const task = visibleText(prompt.split('\n', 1)[0] ?? '')
      return `  ${sequence}  ${category}  ${status}  ${model}  ${durationText(ageMs)}  ${cost}${task}`
    },
  )
  return [own, ...(rows.length === 0 ? ['  no subagents'] : rows)].join('\n')
}

function shellsText({ shells }: ChatSession): string {
  const lines = shells?.list().map(({ ageMs, command, id, state }) => {
    return `${id}  ${state}  ${durationText(ageMs)}  ${command.split('\n', 1)[0] ?? ''}`
  })
  return lines === undefined || lines.length === 0 ? 'Nothing runs in the background.' : lines.join('\n')
}

async function stopShell({ shells }: ChatSession, rest: string): Promise<string> {
  const [word, id = '', ...more] = rest.split(/\s+/)
  if (word !== 'stop' || id === '' || more.length > 0) return 'Write /shells, or /shells stop ID.'
  if ((await shells?.stop(id)) === true) return `${id} is stopped.`
  return `There is no shell ${id}.${didYouMean(id, shells?.list().map((shell) => shell.id) ?? [])}`
}

const permissions = ['allow', 'ask', 'deny'] as const

async function changePermission(session: ChatSession, rest: string): Promise<string> {
  const [tool = '', wanted = '', ...more] = rest.split(/\s+/)
  const permission = permissions.find((each) => each === wanted)
  if (permission === undefined || more.length > 0) return 'Write /permissions TOOL allow, ask or deny.'
  const names = session.world.get(session.agent, ToolRegistry)?.tools.map(({ name }) => name) ?? []
  if (!names.includes(tool)) return `There is no tool ${tool}.${didYouMean(tool, names)}`
  await session.setPermission(tool, permission)
  return `${tool}: ${permission}, for this chat.`
}

function permissionsText({ agent, world }: ChatSession): string {
  const { config = {}, cwd = '/', home = '/' } = world.get(agent, Policy) ?? {}
  const { approvalMode = 'ask', dangerousTools, permissions: own = {} } = config
  const remembered = world.get(agent, PolicyState)?.remembered ?? []
  const rows = [
    ...Object.keys(own).flatMap((tool) => {
      const all = approvalOf(own[tool] ?? 'ask')
      const rules = rulesOf(tool, { permissions: own }, { cwd, home })
      return [
        ...rules.map((rule) => `${ruleText(rule)}, by the settings`),
        ...(all === undefined ? [] : [`${tool}: ${all}`]),
      ]
    }),
    ...remembered.map((rule) => `${ruleText(rule)}, by your answer`),
  ]
  const dangerous = dangerousTools === undefined ? 'Tools that write or run' : dangerousTools.join(', ')
  return [
    `${dangerous}: ${approvalMode}. Reading inside of the project is allowed; credentials always ask.`,
    ...rows,
    'Change it: /permissions TOOL allow|ask|deny',
  ].join('\n')
}

function ruleText({ tool, command, reach = ['project'] }: DeepReadonly<Remembered>): string {
  const what = command === undefined ? '' : ` ${JSON.stringify(command)} and operands behind it`
  return `${tool}: allow${what}${reach.length === 0 ? '' : `, in: ${reach.join(', ')}`}`
}
