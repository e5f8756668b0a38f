import { CompactionAsked } from '../../components/compaction-state.ts'
import type { Failure } from '../../components/failure.ts'
import type { InputOf } from '../../components/input.ts'
import { Llm } from '../../components/llm.ts'
import { StepHeld } from '../../components/step-held.ts'
import type { SummarySkipReason } from '../../components/summary-result.ts'
import { Terminal } from '../../components/terminal.ts'
import { compactionView } from '../../src/context/compaction-view.ts'
import type { Compactor } from '../../src/context/compactor.ts'
import { hasCompactor } from '../../src/context/has-compactor.ts'
import { noteRefused } from '../../src/subagents/refused-requests.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { latchOf } from '../latched.ts'
import { answerRequests, answerUnstarted } from './answer-requests.ts'
import { startSummary } from './start-summary.ts'

/** What programs hear that wait for a text, and the configuration is taken away meanwhile. */
export const switchedOff: Failure = {
  kind: 'cancelled',
  message: 'The Context of the agent was taken away, or this was switched off in it.',
}

/** Takes what a program asks for. It joins what was asked for before and has not begun; the newest focus counts. */
export function askForCompaction(world: World, { agent, focus, ifNeeded, request }: InputOf<'compact'>): void {
  const reason = whyNever(world, agent) ?? (hasCompactor(world, agent) ? undefined : 'it has no Context')
  if (reason !== undefined) {
    const message = `compact: agent ${agent} cannot be compacted: ${reason}.`
    return noteRefused(world, request, { code: 'invalid-argument', reason: message })
  }
  const before = world.get(agent, CompactionAsked)
  const isNeeded = ifNeeded !== true || (before !== undefined && before.ifNeeded !== true)
  world.set(agent, CompactionAsked, {
    focus: focus ?? before?.focus,
    ...(!isNeeded && { ifNeeded: true }),
    requests: [...(before?.requests ?? []), request],
  })
}

/** Why nothing can take the place of what an agent has said. */
export function whyNever(world: World, agent: Entity): string | undefined {
  if (!world.has(agent, Llm)) return 'there is no such agent'
  return world.has(agent, Terminal) ? 'it has ended' : undefined
}

/** Compacts the conversation of an agent at a quiet point, as programs have asked for it. */
export function compactAsAsked(world: World, agent: Entity, compactor: Compactor): void {
  const { focus, ifNeeded, requests } = world.read(agent, CompactionAsked)
  const failure = latchOf(world, agent)?.failure ?? (hasCompactor(world, agent) ? undefined : switchedOff)
  // Another text is being written, or something has to be known first.
  if (failure === undefined && world.has(agent, StepHeld)) return
  world.remove(agent, CompactionAsked)
  if (failure !== undefined) return answerRequests(world, agent, requests, { skipped: false, failure })
  const reason = ifNeeded === true ? whyNotNeeded(world, agent, compactor) : undefined
  if (reason !== undefined) return answerRequests(world, agent, requests, { skipped: true, reason })
  const wish = { by: 'manual', focus, kind: 'summary', prompt: compactor.prompt, requests } as const
  answerUnstarted(world, agent, requests, startSummary(world, agent, wish))
}

function whyNotNeeded(world: World, agent: Entity, compactor: Compactor): SummarySkipReason | undefined {
  const view = compactionView(world, agent, 'asked')
  if (view === undefined) return 'no-own-call'
  if (compactor.should(view)) return undefined
  if (view.contextWindow === undefined) return 'unknown-window'
  return view.promptTokens === undefined ? 'unknown-usage' : 'below-threshold'
}
