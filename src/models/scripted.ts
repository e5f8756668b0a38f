import type { Failure, FailureKind, RetryPolicy } from '../protocol/failure.ts'
import type { AssistantMessage, Message, ToolCallBlock } from '../protocol/message.ts'
import type { TokenUsage } from '../protocol/usage.ts'
import { EntiaError } from '../base/entia-error.ts'
import { inspect } from '../base/inspect.ts'
import { isThenable } from '../base/is-thenable.ts'
import type { JsonObject } from '../base/json.ts'
import { failed } from './provider-failure.ts'
import { refuseUnknownOptions } from '../base/known-options.ts'
import type { ModelContext, ModelDelta, ModelOutcome, ModelProvider, ModelReply, ModelRequest } from './port.ts'
import { readArguments } from '../rules/projection/tool-calls.ts'

/** A tool call that a scripted model makes. */
export interface ScriptedCall {
  readonly name: string
  /** A text is read like a model's output, so that malformed arguments can be scripted. @default {} */
  readonly arguments?: ToolCallBlock['arguments'] | string | undefined
  /** @default `call-<messages so far>-<index of the call>` */
  readonly id?: string | undefined
}

/** A text alone is short for `{ text }`. */
export type ScriptedReply =
  | string
  | ScriptedFailure
  | {
      readonly text?: string | undefined
      readonly thinking?: string | undefined
      readonly toolCalls?: readonly ScriptedCall[] | undefined
      /** @default 'tool-calls' with calls, else 'end' */
      readonly stop?: ModelReply['stop'] | undefined
      readonly usage?: TokenUsage | undefined
    }

/** An answer as a function of the request. Keep it stateless: calls come in any order, and restart. */
export type ScriptedBehaviour = (
  request: ModelRequest,
  context: Pick<ModelContext, 'attempt' | 'signal'>,
) => ScriptedReply | Promise<ScriptedReply>

/** Options of `scripted`. */
export interface ScriptedOptions {
  /**
   * Milliseconds of the Runner's clock that an answer takes. Within a range, the request and the attempt decide, or a
   * simulation's seed. @default 0
   */
  readonly latencyMs?: number | readonly [min: number, max: number] | undefined
  /** Reported per call; a reply's own usage takes precedence. @default nothing */
  readonly usage?: TokenUsage | ((request: ModelRequest) => TokenUsage) | undefined
  /** @default false */
  readonly retry?: RetryPolicy | false | undefined
  /** Simulates a provider's own settings. @default nothing */
  readonly settings?: JsonObject | undefined
  /** Stream answers to listeners before they are complete. @default true */
  readonly stream?: boolean | undefined
}

export class ScriptedFailure {
  readonly failure: Failure

  constructor(failure: Failure) {
    this.failure = failure
  }
}

/** Makes a scripted call fail. */
export function fail(
  kind: FailureKind,
  details: { readonly message?: string | undefined; readonly retryAfterMs?: number | undefined } = {},
): ScriptedFailure {
  const { message = `The script says ${kind}.`, retryAfterMs } = details
  return new ScriptedFailure({ kind, message, ...(retryAfterMs !== undefined && { retryAfterMs }) })
}

/** The provider of scripted thinking. */
const SCRIPTED = 'scripted'
const PIECES = 3

const replyFields = ['text', 'thinking', 'toolCalls', 'stop', 'usage']

/**
 * A deterministic model for tests, simulations and demonstrations.
 *
 * Fails with: what `fail` says; `internal` when the behaviour throws or returns something else; `cancelled`.
 *
 * @throws `invalid-argument`
 */
export function scripted(behaviour: ScriptedBehaviour, options: ScriptedOptions = {}): ModelProvider {
  refuseUnknownOptions('scripted()', options, ['latencyMs', 'usage', 'retry', 'settings', 'stream'])
  const { latencyMs = 0, usage, retry = false, settings, stream = true } = options
  check(behaviour, latencyMs)
  return {
    retry,
    settings,
    latencyMs: options.latencyMs,
    isInProcess: true,
    async call(request, context) {
      const draw = context.draw ?? ((range) => drawn(range, request, context.attempt))
      const waitMs = typeof latencyMs === 'number' ? latencyMs : draw(latencyMs)
      let reply: ScriptedReply
      try {
        if (waitMs > 0) await context.sleep(waitMs)
        if (context.signal.aborted) return cancelled()
        const said = behaviour(request, context)
        reply = isThenable(said) ? await said : said
      } catch (error) {
        if (context.signal.aborted) return cancelled()
        context.broke?.('threw', error)
        return broken(`threw ${String(error)}`)
      }
      if (context.signal.aborted) return cancelled()
      if (reply instanceof ScriptedFailure) return failed(reply.failure)
      const answer = answerOf(reply, request, typeof usage === 'function' ? usage(request) : (usage ?? {}))
      if (typeof answer === 'string') {
        context.broke?.(`answered with ${answer}`)
        return broken(`answered with ${answer}`)
      }
      if (stream) tell(answer.message, context.onDelta)
      return { ok: true, value: answer }
    },
  }
}

function check(behaviour: unknown, latencyMs: unknown): void {
  if (typeof behaviour !== 'function') {
    throw new EntiaError(
      'invalid-argument',
      `scripted() must get a function of the request, got ${inspect(behaviour)}.`,
    )
  }
  const [min, max] = Array.isArray(latencyMs) ? (latencyMs as readonly unknown[]) : [latencyMs, latencyMs]
  if (typeof min === 'number' && typeof max === 'number' && min >= 0 && min <= max) return
  const wanted = 'a number of milliseconds ≥ 0, or a range [min, max] of two'
  throw new EntiaError('invalid-argument', `scripted(): latencyMs must be ${wanted}, got ${inspect(latencyMs)}.`)
}

function cancelled(): ModelOutcome {
  return failed({ kind: 'cancelled', message: 'The call of a scripted model was cancelled.' })
}

function broken(what: string): ModelOutcome {
  const wanted = `a text, { ${replyFields.join(', ')} } or fail(kind)`
  return failed({ kind: 'internal', message: `A scripted model ${what}; its behaviour has to return ${wanted}.` })
}

/** The answer, or the problem in words: scripts are often untyped. Keys are in a World's order. */
function answerOf(
  reply: Exclude<ScriptedReply, ScriptedFailure>,
  request: ModelRequest,
  usage: TokenUsage,
): ModelReply | string {
  if (typeof reply === 'string') {
    const content = [{ text: reply, type: 'text' } as const]
    return { message: { content, model: request.model, role: 'assistant' }, stop: 'end', usage }
  }
  if (typeof reply !== 'object' || reply === null) return String(reply)
  const unknown = Object.keys(reply).find((field) => !replyFields.includes(field))
  if (unknown !== undefined) return `an unknown field "${unknown}"`
  const { text, thinking, toolCalls = [], stop } = reply
  const content: AssistantMessage['content'][number][] = []
  if (thinking !== undefined) content.push({ type: 'thinking', provider: SCRIPTED, text: thinking })
  if (text !== undefined) content.push({ text, type: 'text' })
  if (!Array.isArray(toolCalls)) return 'toolCalls that are no list'
  for (const [index, call] of toolCalls.entries()) {
    if (typeof call?.name !== 'string') return `a tool call without a name: ${JSON.stringify(call)}`
    const { id = `call-${request.messages.length}-${index}`, name, arguments: written = {} } = call
    const isCut = stop === 'max-tokens' && index === toolCalls.length - 1
    const read = typeof written === 'string' ? readArguments(written, isCut) : { arguments: written }
    content.push({ ...read, id, name, type: 'tool-call' })
  }
  return {
    message: { content, model: request.model, role: 'assistant' },
    stop: stop ?? (toolCalls.length > 0 ? 'tool-calls' : 'end'),
    usage: reply.usage ?? usage,
  }
}

function tell(message: AssistantMessage, onDelta: (delta: ModelDelta) => void): void {
  for (const block of message.content) {
    if (block.type === 'tool-call') {
      onDelta({ type: 'tool-call', id: block.id, name: block.name })
      onDelta({ type: 'tool-arguments', id: block.id, text: block.malformed ?? JSON.stringify(block.arguments) })
    } else if (block.type !== 'provider') {
      for (const text of piecesOf(block.text)) onDelta({ type: block.type, text })
    }
  }
}

function piecesOf(text: string): string[] {
  const length = Math.ceil(text.length / PIECES)
  const pieces: string[] = []
  let from = 0
  while (from < text.length) {
    let to = from + length
    // Keeps surrogate pairs together.
    if (isHighSurrogate(text.charCodeAt(to - 1))) to++
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** Depends on the request alone, so that a replay takes as long as the run. */
function drawn([min, max]: readonly [number, number], request: ModelRequest, attempt: number): number {
  let hash = 0x811c9dc5 ^ (request.messages.length * 31 + attempt)
  for (const character of lastText(request.messages.at(-1))) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return Math.round(min + ((hash >>> 0) / 0x1_0000_0000) * (max - min))
}

function lastText(message: Message | undefined): string {
  const block = message?.content.findLast((candidate) => candidate.type === 'text')
  return block?.type === 'text' ? block.text : ''
}
