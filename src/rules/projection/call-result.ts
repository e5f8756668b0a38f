import { Effect, Outcome, OwnedBy } from '../../../components/effects/effect.ts'
import { Reported, ToolCall } from '../../../components/agent/tool-call.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import { type FileBlock, type TextBlock, ToolMessage } from '../../protocol/message.ts'
import type { ToolOutput } from '../../tools/port.ts'
import type { DataOf, Entity } from '../../world/component.ts'
import { fits } from '../../world/fits.ts'
import type { World } from '../../world/world.ts'
import { schemaIssues } from '../text/schema-issues.ts'

/** The result of a call as the model reads it. */
export type CallResult =
  | { readonly text: string; readonly isError: boolean }
  | { readonly content: readonly (TextBlock | FileBlock)[]; readonly isError: boolean }

/** Canonical. */
export function contentOf(result: CallResult): readonly (TextBlock | FileBlock)[] {
  return 'content' in result ? result.content : Object.freeze([textBlock(result.text)])
}

function textBlock(text: string): TextBlock {
  return Object.freeze({ text, type: 'text' })
}

/** A call whose result was emitted, and waits for those of earlier calls. */
export interface ReportedCall extends Pick<DataOf<() => typeof ToolCall.schema>, 'arguments' | 'callId' | 'name'> {
  readonly content: readonly (TextBlock | FileBlock)[]
  readonly isError: boolean
}

/** Results of an agent that were emitted, and are not in its conversation yet, in call order. */
export function reportedCalls(world: World, agent: Entity): readonly ReportedCall[] {
  return world.referrers(OwnedBy, agent).flatMap((call) => {
    if (!world.has(call, Reported)) return []
    const { arguments: input, callId, name } = world.read(call, ToolCall)
    const result = resultOf(world, call, world.read(call, Outcome))
    return [{ arguments: input, callId, name, content: contentOf(result), isError: result.isError }]
  })
}

/** A settled call's result. A failure says so if the work may have been done; what is no content is an error. */
export function resultOf(world: World, call: Entity, outcome: OutcomeData): CallResult {
  if (outcome.ok) {
    const { content, isError } = (outcome.value ?? {}) as ToolOutput
    const schema = ToolMessage().shape.content
    const problem = fits(schema, content) ? undefined : schema.safeParse(content).error
    if (problem !== undefined) return malformed(world, call, schemaIssues(problem))
    return isError === true
      ? withDoubt({ content, isError }, doubtOf(world, call, outcome))
      : { content, isError: false }
  }
  const { kind, message } = outcome.failure
  const head = kind === 'tool-denied' ? '' : kind === 'interrupted' ? '[interrupted] ' : 'Error: '
  return withDoubt({ text: head + message, isError: true }, doubtOf(world, call, outcome))
}

function malformed(world: World, call: Entity, problem: string): CallResult {
  const { name } = world.read(call, ToolCall)
  const text = `Error: The result of '${name}' is malformed: content: ${problem}`
  return withDoubt({ text, isError: true }, doubtOf(world, call))
}

function withDoubt(result: CallResult, doubt: string | undefined): CallResult {
  if (doubt === undefined) return result
  return { content: Object.freeze([...contentOf(result), textBlock(doubt)]), isError: true }
}

/** Why a failed call may have done its work. */
function doubtOf(world: World, call: Entity, outcome?: OutcomeData): string | undefined {
  const { attempt, restart } = world.get(call, Effect) ?? {}
  if (restart === 'keyed' && attempt !== undefined && attempt > 1) return ranBefore
  const mayHaveRun = restart === 'keyed' || restart === 'once'
  return mayHaveRun && outcome?.ok === false && outcome.failure.kind === 'timed-out' ? ranTooLong : undefined
}

const ranBefore =
  '[The process ended while an earlier run of this call was under way: it may have happened, or not, or in part.]'

const ranTooLong = '[It was under way until then: it may have happened, or not, or in part.]'
