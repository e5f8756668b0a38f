import { LastTurn } from '../../../components/agent/turn.ts'
import { assertAgent } from '../../engine/loop/requests.ts'
import type { WorldDriver } from '../../engine/loop/world-driver.ts'
import { type UserMessage, userMessage } from '../../protocol/message.ts'
import { schemaIssues } from '../../rules/text/schema-issues.ts'
import { jsonSchemaOf } from '../../rules/text/json-schema-of.ts'
import {
  isStandard,
  type StandardOutput,
  type StandardSchema,
  type Validated,
} from '../../rules/text/standard-schema.ts'
import { validated } from '../../tools/validated.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { checkOptions, filledText, type ShapesOf } from '../../base/option-shapes.ts'
import { type Answer, goodAnswer } from './answer.ts'
import type { AskPart } from './part.ts'
import { PartStream } from './part-stream.ts'
import { followTurn, partsSoFar } from './turn-parts.ts'
import { isAtWork, TurnWatch } from './turn-watch.ts'
import type { z } from 'zod'

/** A schema of zod 4, or one of another maker that keeps to Standard Schema. */
export type AnswerSchema = z.ZodType | StandardSchema

/** Options of `ask`. */
export interface AskOptions<Schema extends AnswerSchema = AnswerSchema> {
  /** What the final answer of this turn has to look like. @default as the agent was made */
  readonly output?: Schema | undefined
  /** The message counts once under an id: asked again, it gives the answer of the turn that took it, if that is open or the last. */
  readonly id?: string | undefined
  /** Cancels the agent's turn when it aborts. */
  readonly signal?: AbortSignal | undefined
}

/** What `ask` gives: with the output that the schema describes, unknown without one. */
export type AskingFor<Schema extends AnswerSchema> = Asking<
  [Schema] extends [never]
    ? unknown
    : Schema extends z.ZodType
      ? z.output<Schema>
      : Schema extends StandardSchema
        ? StandardOutput<Schema>
        : unknown
>

/** A turn that was asked for: await it for the answer, or read its parts as they come, or both. */
export interface Asking<Output = unknown> extends Promise<Answer<Output>> {
  /**
   * What happens in the turn, in order, until its end. It does not throw for a turn that failed: the last part says so. Take it
   * right after `ask`: what happened before is not in it. Each reader has a queue of its own.
   */
  readonly parts: AsyncIterableIterator<AskPart<Output>>
}

/**
 * Says something to an agent and gives the turn that answers it. A message to an agent at work joins its open turn. The
 * promise waits for this agent's turn alone, not for the World; it rejects for a turn that failed (`turn-failed`) or reached a ceiling
 * (`budget-spent`), with the `Failure` in the error's `details`; other stops are answers.
 *
 * @throws by its promise and by its parts: `invalid-argument`, `unknown-entity`, `world-driven` for a Runner that is not
 * started or was stopped, and what the Runner fails with
 */
export function ask<Schema extends AnswerSchema = never>(
  runner: WorldDriver,
  agent: Entity,
  message: string | UserMessage,
  options: AskOptions<Schema> = noOptions as AskOptions<Schema>,
): AskingFor<Schema> {
  return asAsking(askedTurn(runner, agent, message, options))
}

/**
 * The turn that an agent is at, or else its last one: for a reader that comes back, after a restart too. Its parts begin with
 * what the turn has so far.
 *
 * @throws by its promise: `invalid-argument` for an agent that has had no turn
 */
ask.attach = function attach(runner: WorldDriver, agent: Entity): Asking {
  return asAsking(attachedTurn(runner, agent))
}

/** A turn under way. */
export interface TurnUnderWay {
  /** Its answer, also where the turn failed. */
  readonly ended: Promise<Answer>
  /** Writes its parts from now on, and the end behind them. */
  readonly follow: (stream: PartStream) => void
}

export function askedTurn(
  runner: WorldDriver,
  agent: Entity,
  message: string | UserMessage,
  options: AskOptions,
): TurnUnderWay {
  let posted: Promise<number | undefined> | undefined
  const ended = TurnWatch.of(runner).answerTo(agent, () => {
    if (options !== noOptions) checkOptions('ask', options, askShapes)
    options.signal?.throwIfAborted()
    assertAgent(runner.world, agent)
    const output = options.output && jsonSchemaOf(options.output, 'ask')
    const input = { kind: 'message', agent, message: userMessage(message), ...(output && { output }) } as const
    if (options.id === undefined) return runner.post(input)
    return (posted = runner.post(input, { id: options.id }))
  })
  // Options that are none are refused by the promise.
  const { output, signal } = Object(options) as AskOptions
  if (signal !== undefined) cancelOnAbort(runner, agent, signal, ended)
  return {
    ended: output === undefined ? ended : ended.then((answer) => parsed(answer, output)),
    follow: (stream) => {
      if (posted === undefined) follow(runner, agent, (part) => stream.write(part), stream)
      else followKnown(runner, agent, posted, stream)
    },
  }
}

/** Follows the turn of a message under an id: if it was taken before, the turn so far comes first. */
function followKnown(
  runner: WorldDriver,
  agent: Entity,
  posted: Promise<number | undefined>,
  stream: PartStream,
): void {
  const soFar = [...partsSoFar(runner, agent)]
  let held: AskPart[] | undefined = []
  const release = (first: readonly AskPart[]): void => {
    for (const part of [...first, ...(held ?? [])]) stream.write(part)
    held = undefined
  }
  follow(runner, agent, (part) => (held === undefined ? stream.write(part) : void held.push(part)), stream)
  // The answer is settled behind this: the end of the turn comes last.
  posted.then((tick) => release(tick === undefined ? soFar : []), ignore)
}

export function attachedTurn(runner: WorldDriver, agent: Entity): TurnUnderWay {
  return {
    ended: TurnWatch.of(runner).answerTo(agent, () => {
      assertAgent(runner.world, agent)
      if (isAtWork(runner.world, agent) || runner.world.has(agent, LastTurn)) return undefined
      throw new EntiaError('invalid-argument', `ask.attach: agent ${agent} has had no turn yet. Call ask.`, { agent })
    }),
    follow(stream) {
      for (const part of partsSoFar(runner, agent)) stream.write(part)
      follow(runner, agent, (part) => stream.write(part), stream)
    },
  }
}

function follow(runner: WorldDriver, agent: Entity, write: (part: AskPart) => void, stream: PartStream): void {
  stream.onEnd(followTurn(runner, agent, write))
}

export function asAsking<Output>(turn: TurnUnderWay): Asking<Output> {
  const good: Promise<Answer> & { [turnOf]?: TurnUnderWay } = turn.ended.then(goodAnswer)
  // Who reads the parts need not await the answer.
  good.then(undefined, ignore)
  good[turnOf] = turn
  return Object.defineProperty(good, 'parts', partsOfTurn) as Promise<unknown> as Asking<Output>
}

const turnOf = Symbol('turn')

function ignore(): void {}

/** One getter for all: a getter of its own would give each promise a shape of its own, which costs as much as a promise. */
const partsOfTurn = {
  get(this: { [turnOf]: TurnUnderWay }): PartStream {
    const turn = this[turnOf]
    const stream = new PartStream()
    turn.follow(stream)
    turn.ended.then(
      (answer) => stream.write({ type: 'end', answer }),
      (error: Error) => stream.fail(error),
    )
    return stream
  },
}

const noOptions: AskOptions = {}

const askShapes: ShapesOf<AskOptions> = {
  output: {
    wanted: 'a schema',
    fits: (value) => (typeof value === 'object' && value !== null) || typeof value === 'function',
  },
  id: filledText,
  signal: { wanted: 'an AbortSignal', fits: (value) => value instanceof AbortSignal },
}

/** The answer with its output as the schema gives it: with defaults and transformations, and refinements checked. */
function parsed(answer: Answer, schema: AnswerSchema): Answer | Promise<Answer> {
  if (answer.output === undefined) return answer
  const read = (result: Validated): Answer => {
    if ('data' in result) return { ...answer, output: result.data }
    const message = `The final answer does not fit its schema: ${result.problem}`
    return { ...answer, output: undefined, stop: 'failed', failure: { kind: 'invalid-output', message } }
  }
  if ('safeParse' in schema && typeof schema.safeParse === 'function') {
    const { data, error } = schema.safeParse(answer.output)
    return read(error === undefined ? { data } : { problem: schemaIssues(error) })
  }
  if (!isStandard(schema)) return answer
  const result = validated(schema, answer.output)
  return result instanceof Promise ? result.then(read) : read(result)
}

function cancelOnAbort(runner: WorldDriver, agent: Entity, signal: AbortSignal, ended: Promise<unknown>): void {
  const cancel = (): void => void runner.cancel(agent, 'aborted by its caller').catch(() => undefined)
  signal.addEventListener('abort', cancel)
  const forget = (): void => signal.removeEventListener('abort', cancel)
  ended.then(forget, forget)
}
