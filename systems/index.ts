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
import { EntiaError } from '../src/world/entia-error.ts'
import { lazily } from '../src/world/lazily.ts'
import type { System } from '../src/world/world.ts'
import { allowance } from './sessions/allowance.ts'
import { archival } from './context/archival.ts'
import { archiveJobs } from './context/archive-jobs.ts'
import { cancellation } from './agent/cancellation.ts'
import { checkpoint } from './context/checkpoint.ts'
import { compaction } from './context/compaction.ts'
import { contextTools } from './context/context-tools.ts'
import { costCeiling } from './money/cost-ceiling.ts'
import { limits } from './agent/limits.ts'
import { charging } from './money/charging.ts'
import { promptRendering } from './agent/prompt-rendering.ts'
import { reasoning } from './agent/reasoning.ts'
import { receipts } from './agent/receipts.ts'
import { reception } from './agent/reception.ts'
import { reply } from './agent/reply.ts'
import { restart } from './agent/restart.ts'
import { retry } from './agent/retry.ts'
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

export interface StandardSystemsOptions {
  /** Most effects of a kind that one tick starts; the rest waits for the next. @default 256 */
  readonly maxStartsPerTick?: number
  /** Longest run of a session whose launch says nothing, in milliseconds of world time. @default no limit */
  readonly defaultTimeoutMs?: number
  /** Agents that have tools may delegate to any name; they get a `SubagentRegistry` if they have none. @default false */
  readonly allowUnregisteredSubagents?: boolean
  /** Decides when conversations are compacted, and by what prompt; either, or both. @default at a threshold of fullness */
  readonly compactor?: Partial<Compactor>
  /** The same for the records of tasks that are done. @default whenever it was said that one is */
  readonly checkpointer?: Partial<Checkpointer>
  /** Signals of the watchdog besides the built-in one; one named `repeated-tool-call` takes its place. */
  readonly watchdog?: readonly WatchdogSignal[]
}

const optionsSchema = lazily(() =>
  z.strictObject({
    maxStartsPerTick: z.number().int().min(1).optional(),
    defaultTimeoutMs: z.number().positive().optional(),
    allowUnregisteredSubagents: z.boolean().optional(),
    compactor: z.custom<Partial<Compactor>>(isJudgement, 'expected { should?(view), prompt?(view) }').optional(),
    checkpointer: z.custom<Partial<Checkpointer>>(isJudgement, 'expected { should?(view), prompt?(view) }').optional(),
    watchdog: z.array(z.custom<WatchdogSignal>(isSignal, 'expected a signal: { name, initial, observe }')).optional(),
  }),
)

/** A plain object of functions by these names. */
function isJudgement(given: unknown): boolean {
  if (!isPlain(given)) return false
  return Object.entries(given).every(([name, value]) => {
    return ['should', 'prompt'].includes(name) && (typeof value === 'function' || value === undefined)
  })
}

/**
 * The order of one tick. A tool call goes through it like this: `reply` finds it in a model's answer, `toolExecution`
 * makes it an effect, the Runner runs it, `settlement` takes its outcome, `toolResults` puts that into the conversation,
 * and `reasoning` starts the next step, all in the tick in which the outcome came.
 */
export function standardSystems(options?: StandardSystemsOptions): System[] {
  // They keep nothing between ticks: one list serves all worlds that ask for nothing else.
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
  } = options
  const compactor = { ...standardCompactor, ...options.compactor }
  const checkpointer = { ...standardCheckpointer, ...options.checkpointer }
  return [
    receipts, //                         -120  inputs that were posted under an id are remembered
    restart, //                          -110  a Runner took the world up: what ran once is interrupted
    settlement, //                       -100  outcomes, answers and deadlines settle effects
    charging, //                          -98  what settled calls and children have cost enters the ledgers
    subtasks, //                          -97  subtasks are launched and answered
    cancellation, //                      -95  cancelled agents stop
    reception, //                         -90  messages come in
    retry, //                             -85  failed model calls wait for another try
    reply, //                             -80  models' answers enter conversations
    turnEnd, //                           -70  final answers are checked; turns end
    toolResults, //                       -60  tools' results enter conversations, in call order
    subagentScheduler(defaultTimeoutMs), // -30  sessions are launched, admitted, and end
    archiveJobs, //                       -29  turns that are over move to their holders
    costCeiling, //                       -10  agents that have spent as much as they may come to rest
    wait, //                               -5  agents are told of sessions that have ended, and wake
    subagentTools({ maxStartsPerTick, allowUnregisteredSubagents }), // -4  those that may delegate get the tools for it
    contextTools(maxStartsPerTick), //   -3.5  agents get the tools that come with their configuration
    limits, //                             -3  turns that used up their steps end
    allowance(maxStartsPerTick), //      -2.9  in a subtask's world: whoever pays for it is asked before each step
    checkpoint({ checkpointer, maxStartsPerTick }), // -2.8  records take the place of tasks that are done
    compaction({ compactor, maxStartsPerTick }), // -2.6  handovers take the place of what windows have no room for
    promptRendering(maxStartsPerTick), //  -2  system prompts of those that are about to think are filled in
    watchdog({ maxStartsPerTick, signals }), // -1  agents that go in circles are noticed
    reasoning(maxStartsPerTick), //         0  agents with something to answer start a model call
    toolExecution({ maxStartsPerTick, worldTools: worldTools(defaultTimeoutMs) }), // 5  requested tool calls are decided about and started
    sessionEnd, //                         10  in a session's world: how it ended is noted
    archival, //                           11  turns that have ended are looked at: a holder is to have the heavy ones
    transcripts, //                      11.5  messages come to their agents' transcripts
    slots, //                              12  in a session's world: a slot is given back, or asked for again
  ]
}

// For programs that tick a world without a Runner, and for agents that are given these two tools.
export { tick, type TickOptions, type TickResult } from '../src/world/tick.ts'
export { querySubagentDeclaration, spawnSubagentDeclaration } from '../src/rules/delegation/declarations.ts'

export {
  allowance,
  archival,
  archiveJobs,
  cancellation,
  charging,
  checkpoint,
  compaction,
  contextTools,
  costCeiling,
  limits,
  promptRendering,
  reasoning,
  receipts,
  reception,
  reply,
  restart,
  retry,
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
