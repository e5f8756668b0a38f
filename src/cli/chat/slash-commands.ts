import { didYouMean } from '../../base/near-names.ts'
import type { MenuItem } from './menu.ts'

export interface SlashCommand {
  readonly usage: string
  readonly help: string
  readonly aliases?: readonly string[]
}

/** By name. */
export const slashCommands = {
  agents: { usage: '/agents', help: 'show the agent and its subagents' },
  context: { usage: '/context', help: 'show how full the context window is' },
  compact: { usage: '/compact [focus]', help: 'summarize the conversation so far' },
  done: { usage: '/done [note]', help: 'close the task with a record of it' },
  stats: { usage: '/stats', help: 'show steps, calls, tokens and cost' },
  permissions: { usage: '/permissions [tool allow|ask|deny]', help: 'show or change what tools may do' },
  'resume-after-cost-ceiling': {
    usage: '/resume-after-cost-ceiling [usd]',
    help: 'go on after a cost ceiling',
  },
  'resume-after-watchdog': {
    usage: '/resume-after-watchdog',
    help: 'go on after a stop by the watchdog',
  },
  shells: { usage: '/shells [stop ID]', help: 'show or stop what runs in the background' },
  plan: { usage: '/plan', help: 'switch plan mode on or off' },
  skills: { usage: '/skills', help: 'list the skills that the agent can read' },
  workspace: { usage: '/workspace [pin|unpin NAME]', help: 'list the results that the agent keeps' },
  model: { usage: '/model [name]', help: 'show or change the model' },
  rewind: { usage: '/rewind [n]', help: 'take back n messages, and written files' },
  new: { usage: '/new', help: 'begin a new chat; this one stays stored' },
  help: { usage: '/help', help: 'show this list' },
  quit: { usage: '/quit', help: 'leave', aliases: ['exit', 'q'] },
} as const satisfies Readonly<Record<string, SlashCommand>>

export type SlashName = keyof typeof slashCommands

/** What a typed line is. */
export type TypedLine =
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'command'; readonly name: SlashName; readonly rest: string }
  /** A command of the user's, for the shell. */
  | { readonly kind: 'shell'; readonly command: string }
  /** Not sent to the model. */
  | { readonly kind: 'unknown'; readonly advice: string }

const names = new Map<string, SlashName>(
  Object.entries<SlashCommand>(slashCommands).flatMap(([name, { aliases = [] }]) =>
    [name, ...aliases].map((spelt) => [spelt, name as SlashName] as const),
  ),
)

/**
 * `/name rest` is a command, `//text` says `/text`; a path such as `/etc/hosts` is a message. `!command` runs it, `!!text` says
 * `!text`.
 */
export function typedLine(line: string): TypedLine {
  if (line.startsWith('//')) return { kind: 'message', text: line.slice(1) }
  if (line.startsWith('!!')) return { kind: 'message', text: line.slice(1) }
  if (/^!\s*\S/.test(line)) return { kind: 'shell', command: line.slice(1).trim() }
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

/** Commands to choose from, each once: an alias stands beside its name. */
export const slashItems: readonly MenuItem[] = Object.entries<SlashCommand>(slashCommands).flatMap(
  ([name, { aliases = [], help, usage }]) => [
    { value: `/${name}`, label: usage, help, isWhole: usage === `/${name}` },
    ...aliases.map((alias) => ({ value: `/${alias}`, help, isWhole: true })),
  ],
)
