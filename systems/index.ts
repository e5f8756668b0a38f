import { EntiaError } from '../src/world/entia-error.ts'
import type { System } from '../src/world/world.ts'
import { cancellation } from './cancellation.ts'
import { limits } from './limits.ts'
import { promptRendering } from './prompt-rendering.ts'
import { reasoning } from './reasoning.ts'
import { receipts } from './receipts.ts'
import { reception } from './reception.ts'
import { reply } from './reply.ts'
import { restart } from './restart.ts'
import { retry } from './retry.ts'
import { settlement } from './settlement.ts'
import { toolExecution } from './tool-execution.ts'
import { toolResults } from './tool-results.ts'
import { turnEnd } from './turn-end.ts'

export interface StandardSystemsOptions {
  /** Most effects of a kind that one tick starts; the rest waits for the next. @default 256 */
  readonly maxStartsPerTick?: number
}

/**
 * The order of one tick. A tool call goes through it like this: `reply` finds it in a model's answer, `toolExecution`
 * makes it an effect, the Runner runs it, `settlement` takes its outcome, `toolResults` puts that into the conversation,
 * and `reasoning` starts the next step, all in the tick in which the outcome came.
 */
export function standardSystems({ maxStartsPerTick = 256, ...rest }: StandardSystemsOptions = {}): System[] {
  const unknown = Object.keys(rest)
  if (unknown.length > 0 || !Number.isInteger(maxStartsPerTick) || maxStartsPerTick < 1) {
    const came = unknown.length > 0 ? `option ${unknown.join(', ')}` : String(maxStartsPerTick)
    const expected = 'maxStartsPerTick (a whole number of 1 or more)'
    throw new EntiaError('invalid-argument', `standardSystems: expected ${expected}; came ${came}.`)
  }
  return [
    receipts, //                         -120  inputs that were posted under an id are remembered
    restart, //                          -110  a Runner took the world up: what ran once is interrupted
    settlement, //                       -100  outcomes, answers and deadlines settle effects
    cancellation, //                      -95  cancelled agents stop
    reception, //                         -90  messages come in
    retry, //                             -85  failed model calls wait for another try
    reply, //                             -80  models' answers enter conversations
    turnEnd, //                           -70  final answers are checked; turns end
    toolResults, //                       -60  tools' results enter conversations, in call order
    limits, //                             -3  turns that used up their steps end
    promptRendering(maxStartsPerTick), //  -2  system prompts of those that are about to think are filled in
    reasoning(maxStartsPerTick), //         0  agents with something to answer start a model call
    toolExecution(maxStartsPerTick), //     5  requested tool calls are decided about and started
  ]
}

export {
  cancellation,
  limits,
  promptRendering,
  reasoning,
  receipts,
  reception,
  reply,
  restart,
  retry,
  settlement,
  toolExecution,
  toolResults,
  turnEnd,
}
