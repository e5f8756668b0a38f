import { z } from 'zod'
import {
  type Checkpointer,
  type Compactor,
  standardCheckpointer,
  standardCompactor,
} from '../src/rules/context/compactor.ts'
import { isPlain } from '../src/rules/config/check-settings.ts'
import { isSignal, type WatchdogSignal } from '../src/rules/context/watchdog-signal.ts'
import { schemaIssues } from '../src/rules/text/schema-issues.ts'
import type { DefinedWorldTool } from './agent/define-world-tool.ts'
import { EntiaError } from '../src/base/entia-error.ts'
import { lazily } from '../src/base/lazily.ts'
import type { System } from '../src/world/world.ts'
import { allowance } from './sessions/allowance.ts'
import { archival } from './context/archival.ts'
import { archiveJobs } from './context/archive-jobs.ts'
import { awaitedGrants } from './sessions/awaited-grants.ts'
import { cancellation } from './agent/cancellation.ts'
import { checkpoint } from './context/checkpoint.ts'
import { compaction } from './context/compaction.ts'
import { contextTools } from './context/context-tools.ts'
import { costCeiling } from './money/cost-ceiling.ts'
import { handles } from './agent/handles.ts'
import { limits } from './agent/limits.ts'
import { charging } from './money/charging.ts'
import { promptRendering } from './agent/prompt-rendering.ts'
import { reasoning } from './agent/reasoning.ts'
import { receipts } from './agent/receipts.ts'
import { reception } from './agent/reception.ts'
import { reply } from './agent/reply.ts'
import { restart } from './agent/restart.ts'
import { retry } from './agent/retry.ts'
import { rewinding } from './agent/rewinding.ts'
import { routing } from './agent/routing.ts'
import { sessionEnd } from './sessions/session-end.ts'
import { settlement } from './agent/settlement.ts'
import { slots } from './sessions/slots.ts'
import { subagentScheduler } from './sessions/subagent-scheduler.ts'
import { subagentTools } from './sessions/subagent-tools.ts'
import { subtasks } from './sessions/subtasks.ts'
import { toolExecution } from './agent/tool-execution.ts'
import { toolResults } from './agent/tool-results.ts'
import { transcripts } from './context/transcripts.ts'
import { turnEnd } from './agent/turn-end.ts'
import { wait } from './sessions/wait.ts'
import { watchdog } from './context/watchdog.ts'
import { worldTools } from './sessions/world-tools/index.ts'

/** Options of `standardSystems`. */
export interface StandardSystemsOptions {
  /** Most effects of one kind started in a tick; the rest start in the next. @default 256 */
  readonly maxStartsPerTick?: number
  /** Timeout of a session that is launched without one, in milliseconds of world time. @default no limit */
  readonly defaultTimeoutMs?: number
  /** Agents that have tools may delegate to any name, with or without a `SubagentRegistry`. @default false */
  readonly allowUnregisteredSubagents?: boolean
  /** When to compact a conversation, and with what prompt. @default when the context window is nearly full */
  readonly compactor?: Partial<Compactor>
  /** When to replace a finished task by a record, and with what prompt. @default when the agent or a program says so */
  readonly checkpointer?: Partial<Checkpointer>
  /** Tools that change the world, besides those of sessions and context, as `defineWorldTool` makes them. @default none */
  readonly worldTools?: readonly DefinedWorldTool[]
  /** Further watchdog signals. One named `repeated-tool-call` replaces the built-in signal. */
  readonly watchdog?: readonly WatchdogSignal[]
}

const optionsSchema = lazily(() =>
  z.strictObject({
    maxStartsPerTick: z.number().int().min(1).optional(),
    defaultTimeoutMs: z.number().positive().optional(),
    allowUnregisteredSubagents: z.boolean().optional(),
    compactor: z.custom<Partial<Compactor>>(isJudgement, 'expected { should?(view), prompt?(view) }').optional(),
    checkpointer: z.custom<Partial<Checkpointer>>(isJudgement, 'expected { should?(view), prompt?(view) }').optional(),
    worldTools: z.array(z.custom<DefinedWorldTool>(isWorldTool, 'expected a tool of defineWorldTool')).optional(),
    watchdog: z.array(z.custom<WatchdogSignal>(isSignal, 'expected a signal: { name, initial, observe }')).optional(),
  }),
)

function isWorldTool(given: unknown): boolean {
  return isPlain(given) && typeof given['answer'] === 'function' && isPlain(given['declaration'])
}

/** A plain object of functions by these names. */
function isJudgement(given: unknown): boolean {
  if (!isPlain(given)) return false
  return Object.entries(given).every(([name, value]) => {
    return ['should', 'prompt'].includes(name) && (typeof value === 'function' || value === undefined)
  })
}

/**
 * The order of one tick. A tool call takes this path: `reply` finds it in a model's reply, `toolExecution` makes it an
 * effect, the Runner runs it. In the tick that brings the outcome, `settlement` settles the effect, `toolResults` adds the
 * result to the conversation, and `reasoning` starts the next model call.
 */
export function standardSystems(options?: StandardSystemsOptions): System[] {
  // Systems keep no state between ticks, so all worlds share the default list.
  return options === undefined ? [...inDefaultOrder()] : inOrder(options)
}

const inDefaultOrder = lazily(() => inOrder({}))

function inOrder(options: StandardSystemsOptions): System[] {
  const problem = optionsSchema().safeParse(options).error
  if (problem !== undefined) throw new EntiaError('invalid-argument', `standardSystems: ${schemaIssues(problem)}.`)
  const {
    maxStartsPerTick = 256,
    defaultTimeoutMs,
    allowUnregisteredSubagents = false,
    watchdog: signals = [],
    worldTools: own = [],
  } = options
  const compactor = { ...standardCompactor, ...options.compactor }
  const checkpointer = { ...standardCheckpointer, ...options.checkpointer }
  return [
    receipts, //                         -120  remembers the ids of inputs, to drop duplicates
    restart, //                          -110  after a restart: settles interrupted effects, updates tools
    settlement, //                       -100  settles effects by their outcome, answer or deadline
    charging, //                          -98  charges settled calls and children to the ledgers
    subtasks, //                          -97  launches subtasks for programs, and takes their results
    cancellation, //                      -95  stops the work of cancelled agents
    handles, //                           -94  names values that tool calls keep
    rewinding, //                         -93  takes back the end of conversations
    reception, //                         -90  adds incoming messages to conversations, and what a workspace has for them
    retry, //                             -85  schedules another try of failed model calls
    reply, //                             -80  adds models' replies to conversations, and creates their tool calls
    turnEnd, //                           -70  checks final answers and ends turns
    toolResults, //                       -60  adds tool results to conversations, in call order, and to workspaces
    subagentScheduler(defaultTimeoutMs), // -30  launches, admits and ends sessions
    archiveJobs, //                       -29  moves heavy turns to their holders, step by step
    costCeiling, //                       -10  stops agents that have reached a cost ceiling
    wait, //                               -5  notifies agents of sessions that have ended, and wakes them
    subagentTools({ maxStartsPerTick, allowUnregisteredSubagents }), // -4  gives agents that may delegate the tools for it
    contextTools(maxStartsPerTick), //   -3.5  gives agents the tools that their configuration asks for
    routing, //                          -3.2  moves agents that have touched personal data to the local model
    limits, //                             -3  ends turns that have used up their steps or their grant
    allowance(maxStartsPerTick), //      -2.9  in a subtask's world: asks the parent's budget before each model call
    checkpoint({ checkpointer, maxStartsPerTick }), // -2.8  replaces finished tasks by a record
    compaction({ compactor, maxStartsPerTick }), // -2.6  replaces a conversation by a summary when the window is full
    promptRendering(maxStartsPerTick), //  -2  renders system prompts before a model call
    watchdog({ maxStartsPerTick, signals }), // -1  detects agents that repeat themselves
    reasoning(maxStartsPerTick), //         0  starts a model call for each agent that has something to answer
    toolExecution({ maxStartsPerTick, worldTools: withOwn(worldTools(defaultTimeoutMs), own) }), // 5  checks requested tool calls and starts them
    sessionEnd, //                         10  in a session's world: records how the session ended
    archival, //                           11  judges turns that have ended, and opens an archive job for each heavy one
    transcripts, //                      11.5  writes messages to the agents' transcripts
    slots, //                              12  in a session's world: releases its slot while it only waits
    awaitedGrants, //                    12.2  sessions that wait for reserved budget ask for it again
  ]
}

/** @throws `invalid-argument` for two tools of one name */
function withOwn(standard: ReturnType<typeof worldTools>, own: readonly DefinedWorldTool[]) {
  const all = new Map(standard)
  for (const { answer, declaration } of own) {
    const { name } = declaration
    const whose = standard.has(name) ? 'one of the standard systems has it' : 'it is there twice'
    if (all.has(name))
      throw new EntiaError('invalid-argument', `standardSystems: worldTools: '${name}': ${whose}. Rename it.`)
    all.set(name, answer)
  }
  return all
}

export { type DefinedWorldTool, defineWorldTool, type WorldToolOptions } from './agent/define-world-tool.ts'
export type { WorldToolCall } from './sessions/world-tools/world-tool.ts'

// For programs that tick a world without a Runner, or declare these two tools themselves.
export { tick, type TickOptions, type TickResult } from '../src/world/tick.ts'
export { querySubagentDeclaration, spawnSubagentDeclaration } from '../src/rules/delegation/declarations.ts'

export {
  allowance,
  archival,
  archiveJobs,
  awaitedGrants,
  cancellation,
  charging,
  checkpoint,
  compaction,
  contextTools,
  costCeiling,
  handles,
  limits,
  promptRendering,
  reasoning,
  receipts,
  reception,
  reply,
  restart,
  retry,
  rewinding,
  routing,
  sessionEnd,
  settlement,
  slots,
  subagentScheduler,
  subagentTools,
  subtasks,
  toolExecution,
  toolResults,
  transcripts,
  turnEnd,
  wait,
  watchdog,
}

/** @deprecated Use `archiveJobs`. */
export { archiveJobs as archiving }
