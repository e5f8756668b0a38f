import type { AssistantMessage, ToolCallBlock } from '../../components/message.ts'
import type { Failure } from '../../components/failure.ts'
import type { ModelContext, ModelOutcome, ModelProvider, ModelReply, ModelRequest } from '../models/port.ts'
import type { Range } from './chance.ts'
import type { Fault, FaultName } from './fault.ts'
import type { SimulatedWork } from './simulated-work.ts'

/** How long models take that do not say it themselves. */
export const defaultModelLatencyMs: Range = [200, 8_000]

/** A provider under a simulation: its latency is drawn from the seed, and faults strike its calls. */
export function simulatedModel(
  name: string,
  inner: ModelProvider,
  work: SimulatedWork,
  latencyMs: Range,
): ModelProvider {
  return {
    ...inner,
    call(request, context) {
      const { attempt, key, onDelta, signal } = context
      return work.call({ kind: 'model', name, key, attempt }, async (call) => {
        const { chance, at } = call
        const sleep = (ms: number): Promise<void> => call.sleeping(context.sleep, ms)
        const draw = (range: Range): number => chance.within(range, `${at} latency`)
        const own: ModelContext = { signal, key, attempt, onDelta, sleep, draw }
        const fault = work.strike('model', at, isDecidedBefore)
        if (fault !== undefined) return struck(fault, request, own, () => chance.within(latencyMs, `${at} latency`))
        if (inner.latencyMs === undefined) await sleep(chance.within(latencyMs, `${at} latency`))
        const outcome = await inner.call(request, own)
        if (!outcome.ok) return outcome
        const spoilt = work.strike('model', at, (what) => spoils(what, outcome.value))
        return spoilt === undefined ? outcome : { ok: true, value: spoiled(spoilt.what, outcome.value) }
      })
    },
  }
}

/** These leave nothing of the answer, so that the model is not even asked. */
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

async function struck(
  { what, ms }: Fault,
  request: ModelRequest,
  { sleep, onDelta }: ModelContext,
  latency: () => number,
): Promise<ModelOutcome> {
  if (what === 'model.hang') {
    await sleep(Infinity).catch(() => undefined)
    return { ok: false, failure: { kind: 'cancelled', message: 'The call was called off.' } }
  }
  await sleep(latency())
  if (what === 'model.truncated') onDelta({ type: 'text', text: `Well, of the ${request.messages.length} mes` })
  const failure = failures[what] ?? { kind: 'internal', message: what }
  return { ok: false, failure: ms === undefined ? failure : { ...failure, retryAfterMs: ms } }
}

/** Can a fault do anything to this answer? */
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
