import type { BoundaryEntry, SummaryResult, SummarySkipReason } from '../../protocol/context.ts'
import { Ceilings, CostCeiling } from '../../../components/money/ceilings.ts'
import { LastTurn, Turn } from '../../../components/agent/turn.ts'
import { WatchdogLatch } from '../../../components/agent/watchdog-state.ts'
import { contextReport, statsReport } from '../../rules/context/context-report.ts'
import { contextStats } from '../../rules/context/context-stats.ts'
import { hasCheckpointer, hasCompactor } from '../../rules/context/compactor.ts'
import { formatUsd, toNanoUsd } from '../../rules/money/usd.ts'
import type { Runner } from './runner.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'

/** A command that a user types instead of a message to the agent. */
export interface ContextCommand {
  readonly name: string
  readonly aliases: readonly string[]
  /** What may follow the name, such as `[focus]`; empty: nothing. */
  readonly argument: string
  readonly help: string
}

/** What a context command has done. */
export type ContextCommandResult =
  | { readonly handled: false; readonly text?: undefined }
  | { readonly handled: true; readonly text: string }

interface KnownCommand extends ContextCommand {
  readonly isThere?: (world: World, agent: Entity) => boolean
  readonly run: (runner: Runner, agent: Entity, argument: string) => Promise<string>
}

const commands: readonly KnownCommand[] = [
  {
    name: '/compact',
    aliases: ['/summarize'],
    argument: '[focus]',
    help: 'Puts a summary in the place of what was said so far.',
    isThere: hasCompactor,
    run: async (runner, agent, focus) => compactText(await runner.compact(agent, focus === '' ? {} : { focus })),
  },
  {
    name: '/done',
    aliases: ['/checkpoint'],
    argument: '[note]',
    help: 'Marks the task as done: a record takes its place.',
    isThere: hasCheckpointer,
    run: async (runner, agent, note) => checkpointText(await runner.checkpoint(agent, note === '' ? {} : { note })),
  },
  {
    name: '/context',
    aliases: ['/boundaries'],
    argument: '',
    help: 'Shows what keeps the context small, and how full it is.',
    // In a tick: between ticks the world's time is not current.
    run: (runner, agent) => runner.change((world) => contextReport(contextStats(world, agent), world.nowMs)),
  },
  {
    name: '/stats',
    aliases: [],
    argument: '',
    help: 'Shows steps, calls, tokens and cost.',
    run: (runner, agent) =>
      runner.change((world) => {
        return statsReport(contextStats(world, agent), world.get(agent, Turn) ?? world.get(agent, LastTurn))
      }),
  },
  {
    name: '/resume-after-cost-ceiling',
    aliases: [],
    argument: '[usd]',
    help: 'Goes on after a cost ceiling was reached, and raises that of the session.',
    run: resumeAfterCeiling,
  },
  {
    name: '/resume-after-watchdog',
    aliases: [],
    argument: '',
    help: 'Goes on after the watchdog has stopped the agent.',
    run: resumeAfterWatchdog,
  },
]

/** The commands that an agent has, as its configuration says. */
export function contextCommands(world: World, agent: Entity): readonly ContextCommand[] {
  return commands
    .filter(({ isThere }) => isThere?.(world, agent) !== false)
    .map(({ name, aliases, argument, help }) => ({ name, aliases, argument, help }))
}

/**
 * Runs a line that a user typed, if it is one of `contextCommands`. Failures are part of the text.
 * @throws `world-driven` if the Runner is not running; what the Runner fails with
 */
export async function contextCommand(runner: Runner, agent: Entity, line: string): Promise<ContextCommandResult> {
  const [, name = '', argument = ''] = /^(\/[a-z-]+)(?:\s+([^]*))?$/.exec(line.trim()) ?? []
  const command = commands.find((known) => known.name === name || known.aliases.includes(name))
  if (command === undefined || command.isThere?.(runner.world, agent) === false) return { handled: false }
  return { handled: true, text: await command.run(runner, agent, argument) }
}

const skipReasons: Readonly<Record<SummarySkipReason, string>> = {
  empty: 'there is nothing that was not summarized before',
  'below-threshold': 'there is too little to summarize',
  'unknown-window': 'the context window of the model is not known',
  'unknown-usage': 'the model does not say how many tokens it used',
  'no-own-call': 'the model has not answered yet',
}

function compactText(result: SummaryResult): string {
  if (result.skipped) return `Nothing was compacted: ${skipReasons[result.reason]}.`
  if (result.failure !== undefined) return failed('Nothing was compacted', result.failure)
  return `Compacted: ${boundaryText('a summary', result.boundary)} stands for what was said before.`
}

function checkpointText(result: SummaryResult): string {
  if (result.skipped) return `No record was written: ${skipReasons[result.reason]}.`
  if (result.failure !== undefined) return failed('No record was written', result.failure)
  return `Done: ${boundaryText('a record', result.boundary)} stands for the task.`
}

function failed(what: string, { kind, message }: { readonly kind: string; readonly message: string }): string {
  const advice = kind === 'budget-spent' ? ' /resume-after-cost-ceiling goes on.' : ''
  return `${what}, and the conversation stays as it was. ${sentence(message)}${advice}`
}

function boundaryText(what: string, { text, truncated, missingHeadings, costUsd }: BoundaryEntry): string {
  const remarks = [
    `${text.length} characters`,
    ...(costUsd === undefined ? [] : [usd(costUsd)]),
    ...(truncated ? ['cut off at its output limit'] : []),
    ...(missingHeadings.length === 0 ? [] : [`without ${missingHeadings.join(', ')}`]),
  ]
  return `${what} (${remarks.join('; ')})`
}

async function resumeAfterCeiling(runner: Runner, agent: Entity, argument: string): Promise<string> {
  const { world } = runner
  const amount = argument === '' ? undefined : dollars(argument)
  if (Number.isNaN(amount)) {
    return `The amount must be US dollars above 0, such as 5, got ${JSON.stringify(argument)}.`
  }
  if (amount === undefined && !world.has(agent, CostCeiling))
    return 'No cost ceiling was reached: there is nothing to reset.'
  const wasReached = world.has(agent, CostCeiling)
  try {
    await runner.resetCostCeiling(agent, amount === undefined ? {} : { addSessionUsd: amount })
  } catch (error) {
    return refusalText(error)
  }
  const limit = world.get(agent, Ceilings)?.maxSessionCostUsd
  const spent = contextStats(world, agent).cost.sessionUsd
  const room = limit === undefined ? '' : ` The session may spend ${usd(limit)}; ${usd(spent)} of it is spent.`
  return wasReached ? `The cost ceiling is reset.${room} Say what is to be done next.` : room.trim()
}

/** `NaN` unless the text is an amount above 0. */
function dollars(text: string): number {
  const amount = /^\$?(\d+\.?\d*|\.\d+)$/.exec(text)?.[1]
  return amount !== undefined && Number(amount) > 0 ? Number(amount) : NaN
}

function refusalText(error: unknown): string {
  if (!(error instanceof EntiaError)) throw error
  if (error.code === 'limit-reached') {
    const spent = error.message.split('. ')[0] ?? error.message
    return `${sentence(spent)} Say by how much to raise it: /resume-after-cost-ceiling 5 adds $5.`
  }
  if (error.code === 'invalid-argument') return 'The session has no ceiling that could be raised: leave the amount out.'
  throw error
}

async function resumeAfterWatchdog(runner: Runner, agent: Entity): Promise<string> {
  if (!runner.world.has(agent, WatchdogLatch)) return 'The watchdog has stopped nothing: there is nothing to reset.'
  await runner.resetWatchdog(agent)
  return 'The watchdog is reset. Say what is to be done differently.'
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

function usd(amount: number): string {
  return formatUsd(toNanoUsd(amount))
}
