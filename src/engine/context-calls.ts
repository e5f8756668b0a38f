import { z } from 'zod'
import type { StandardInput } from '../../components/input.ts'
import type { SummaryResult } from '../../components/summary-result.ts'
import { takeRefused } from '../subagents/refused-requests.ts'
import { schemaIssues } from '../tools/schema-issues.ts'
import type { Entity } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import { lazily } from '../world/lazily.ts'
import type { World } from '../world/world.ts'
import type { Completions } from './children/completions.ts'

export interface CompactOptions {
  /** What the handover is to look at most. */
  readonly focus?: string | undefined
}

export interface CheckpointOptions {
  /** What is to be said of the task that is done. */
  readonly note?: string | undefined
}

/** Of the Runner whose world it is. */
export interface ContextCallParts {
  readonly completions: Completions
  /** Resolves once the input is committed. */
  readonly post: (input: StandardInput) => Promise<void>
  readonly world: World
}

const text = lazily(() => z.string().trim().optional())
const compactSchema = lazily(() => z.strictObject({ focus: text() }))
const checkpointSchema = lazily(() => z.strictObject({ note: text() }))

/**
 * Has an agent's conversation compacted, and waits for what comes of it.
 *
 * @param ifNeeded only if it is full enough
 * @throws `invalid-argument`
 */
export async function compact(
  agent: Entity,
  options: CompactOptions,
  parts: ContextCallParts,
  ifNeeded = false,
): Promise<SummaryResult> {
  const { data, error } = compactSchema().safeParse(options)
  if (data === undefined) throw new EntiaError('invalid-argument', `compact: ${schemaIssues(error)}.`)
  // An empty text counts as left out.
  const focus = data.focus || undefined
  return ask(parts, (request) => ({
    kind: 'compact',
    agent,
    request,
    ...(focus !== undefined && { focus }),
    ...(ifNeeded && { ifNeeded }),
  }))
}

/** Has a record written of what an agent has done, and waits for what comes of it. @throws `invalid-argument` */
export async function checkpoint(
  agent: Entity,
  options: CheckpointOptions,
  parts: ContextCallParts,
): Promise<SummaryResult> {
  const { data, error } = checkpointSchema().safeParse(options)
  if (data === undefined) throw new EntiaError('invalid-argument', `checkpoint: ${schemaIssues(error)}.`)
  const note = data.note || undefined
  return ask(parts, (request) => ({ kind: 'checkpoint', agent, request, ...(note !== undefined && { note }) }))
}

async function ask(
  { completions, post, world }: ContextCallParts,
  inputFor: (request: string) => StandardInput,
): Promise<SummaryResult> {
  const request = completions.requestId(world.tick)
  const answered = completions.summarized(request)
  await post(inputFor(request))
  const refused = takeRefused(world, request)
  if (refused === undefined) return answered
  completions.forget(request)
  throw new EntiaError(refused.code, refused.reason)
}
