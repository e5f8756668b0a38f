import { didYouMean } from '../../world/near-names.ts'

export interface SlashCommand {
  readonly usage: string
  readonly help: string
  readonly aliases?: readonly string[]
}

/** By name. */
export const slashCommands = {
  agents: { usage: '/agents', help: 'the agent and its subagents' },
  context: { usage: '/context', help: 'how full the context window is' },
  compact: { usage: '/compact [focus]', help: 'summarize the conversation so far' },
  done: { usage: '/done [note]', help: 'close the task with a record of it' },
  stats: { usage: '/stats', help: 'steps, calls, tokens and cost' },
  permissions: { usage: '/permissions [tool allow|ask|deny]', help: 'what tools may do, or change it' },
  'resume-after-cost-ceiling': {
    usage: '/resume-after-cost-ceiling [usd]',
    help: 'go on after a cost ceiling',
  },
  shells: { usage: '/shells [stop ID]', help: 'what runs in the background, or stop it' },
  plan: { usage: '/plan', help: 'plan mode on or off' },
  skills: { usage: '/skills', help: 'the skills that the agent can read' },
  workspace: { usage: '/workspace [pin|unpin NAME]', help: 'results that the agent keeps, or keep one' },
  model: { usage: '/model [name]', help: 'the model, or use another one' },
  rewind: { usage: '/rewind [n]', help: 'take back n messages, and written files' },
  new: { usage: '/new', help: 'a new chat; this one stays stored' },
  help: { usage: '/help', help: 'this list' },
  quit: { usage: '/quit', help: 'leave', aliases: ['exit', 'q'] },
} as const satisfies Readonly<Record<string, SlashCommand>>

export type SlashName = keyof typeof slashCommands

/** What a typed line is. */
export type TypedLine =
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'command'; readonly name: SlashName; readonly rest: string }
  /** Not sent to the model. */
  | { readonly kind: 'unknown'; readonly advice: string }

const names = new Map<string, SlashName>(
  Object.entries<SlashCommand>(slashCommands).flatMap(([name, { aliases = [] }]) =>
    [name, ...aliases].map((spelt) => [spelt, name as SlashName] as const),
  ),
)

/** `/name rest` is a command, `//text` says `/text`; a path such as `/etc/hosts` is a message. */
export function typedLine(line: string): TypedLine {
  if (line.startsWith('//')) return { kind: 'message', text: line.slice(1) }
  const [, name, rest = ''] = /^\/([A-Za-z][\w-]*)(?:\s+(.*))?$/s.exec(line.trim()) ?? []
  if (name === undefined) return { kind: 'message', text: line }
  const known = names.get(name.toLowerCase())
  if (known !== undefined) return { kind: 'command', name: known, rest: rest.trim() }
  const near = didYouMean(name, names.keys()).replaceAll(/'([\w-]+)'/g, '/$1')
  return {
    kind: 'unknown',
    advice: `There is no command /${name}.${near} /help lists them; //${name} sends it as text.`,
  }
}

/** One line a command. */
export function slashHelp(): readonly string[] {
  const usages = Object.values(slashCommands).map(({ usage }) => usage)
  const width = Math.max(...usages.map((usage) => usage.length))
  return Object.values<SlashCommand>(slashCommands).map(({ usage, help, aliases = [] }) => {
    const also = aliases.length === 0 ? '' : ` (also ${aliases.map((name) => `/${name}`).join(', ')}, Ctrl-D)`
    return `${usage.padEnd(width)}  ${help}${also}`
  })
}

/** Names for Tab. */
export const slashNames: readonly string[] = [...names.keys()].map((name) => `/${name}`)
