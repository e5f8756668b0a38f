import type { AssistantMessage, ToolCallBlock } from '../protocol/message.ts'
import type { Failure } from '../protocol/failure.ts'
import type { ModelContext, ModelOutcome, ModelProvider, ModelReply, ModelRequest } from '../models/port.ts'
import type { Range } from './chance.ts'
import type { Fault, FaultName } from './fault.ts'
import type { SimulatedCall, SimulatedWork } from './simulated-work.ts'

/** A simulated provider: its latency is drawn from the seed, and faults strike its calls. */
export function simulatedModel(
  name: string,
  inner: ModelProvider,
  work: SimulatedWork,
  latencyMs: Range,
): ModelProvider {
  return {
    ...inner,
    call(request, context) {
      const { attempt, key, sleep } = context
      return work.call({ kind: 'model', name, key, attempt, request }, sleep, (call) => {
        const fault = work.strike('model', call.at, isDecidedBefore)
        if (fault?.what === 'model.hang') return call.does(calledOff, Infinity)
        if (fault !== undefined) {
          return call.does(() => struck(fault, request, context.onDelta), call.latencyMs(latencyMs))
        }
        const own = inner.latencyMs
        const waitMs = call.latencyMs(own ?? latencyMs)
        const ask = (): Promise<ModelOutcome> => asked({ inner, work, call, request, context, waitMs })
        return call.does(ask, own === undefined || waitMs > 0 ? waitMs : undefined)
      })
    },
  }
}

interface Asked {
  readonly inner: ModelProvider
  readonly work: SimulatedWork
  readonly call: SimulatedCall
  readonly request: ModelRequest
  readonly context: ModelContext
  /** The latency that has already passed. */
  readonly waitMs: number
}

async function asked({ inner, work, call, request, context, waitMs }: Asked): Promise<ModelOutcome> {
  const { attempt, key, onDelta, signal } = context
  const wait = (durationMs: number): Promise<void> => call.sleep(durationMs)
  const sleep = inner.latencyMs === undefined ? wait : restOf(waitMs, wait)
  const draw = (range: Range): number => call.latencyMs(range)
  const broke = (what: string, error?: unknown): void => work.broke(call, what, error)
  const outcome = await inner
    .call(request, { signal, key, attempt, onDelta, sleep, draw, broke })
    .catch((error: unknown) => {
      if (!signal.aborted) broke('threw', error)
      throw error
    })
  if (!outcome.ok) return outcome
  const spoilt = work.strike('model', call.at, (what) => spoils(what, outcome.value))
  return spoilt === undefined ? outcome : { ok: true, value: spoiled(spoilt.what, outcome.value) }
}

/** A sleep from which the latency that already passed is subtracted. */
function restOf(passedMs: number, sleep: ModelContext['sleep']): ModelContext['sleep'] {
  let leftMs = passedMs
  return async (durationMs) => {
    const restMs = durationMs - leftMs
    const isOver = leftMs > 0 && restMs <= 0
    leftMs = Math.max(0, -restMs)
    if (!isOver) await sleep(restMs)
  }
}

/** Faults that leave nothing of the answer: the model is not called. */
const failures: { readonly [N in FaultName]?: Failure } = {
  'model.rateLimited': { kind: 'rate-limited', message: 'Too many requests.' },
  'model.rateLimitedFor': { kind: 'rate-limited', message: 'Too many requests.' },
  'model.overloaded': { kind: 'overloaded', message: 'Overloaded.' },
  'model.truncated': { kind: 'truncated', message: 'The stream broke off.' },
  'model.refused': { kind: 'refused', message: 'The provider refuses to answer this.' },
  'model.contextOverflow': { kind: 'context-overflow', message: 'The request is longer than the context window.' },
}

function isDecidedBefore(what: FaultName): boolean {
  return what === 'model.hang' || what in failures
}

function calledOff(): ModelOutcome {
  return { ok: false, failure: { kind: 'cancelled', message: 'The call was called off.' } }
}

function struck({ what, ms }: Fault, request: ModelRequest, onDelta: ModelContext['onDelta']): ModelOutcome {
  if (what === 'model.truncated') onDelta({ type: 'text', text: `Well, of the ${request.messages.length} mes` })
  const failure = failures[what] ?? { kind: 'internal', message: what }
  return { ok: false, failure: ms === undefined ? failure : { ...failure, retryAfterMs: ms } }
}

function spoils(what: FaultName, { message }: ModelReply): boolean {
  if (what === 'model.emptyReply') return true
  const calls = message.content.some(({ type }) => type === 'tool-call')
  return calls && (what === 'model.malformedToolCall' || what === 'model.unknownTool')
}

function spoiled(what: FaultName, reply: ModelReply): ModelReply {
  if (what === 'model.emptyReply') return { ...reply, message: { ...reply.message, content: [] }, stop: 'end' }
  const spoil = what === 'model.unknownTool' ? unknown : malformed
  let isDone = false
  const content = reply.message.content.map((block): AssistantMessage['content'][number] => {
    if (isDone || block.type !== 'tool-call') return block
    isDone = true
    return spoil(block)
  })
  return { ...reply, message: { ...reply.message, content } }
}

function malformed(call: ToolCallBlock): ToolCallBlock {
  return { ...call, arguments: {}, malformed: `${JSON.stringify(call.arguments).slice(0, -1)}, ` }
}

function unknown(call: ToolCallBlock): ToolCallBlock {
  return { ...call, name: 'no_such_tool' }
}
