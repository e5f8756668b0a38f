import { Context } from '../../components/context.ts'
import { Effect } from '../../components/effect.ts'
import type { Failure } from '../../components/failure.ts'
import { Llm } from '../../components/llm.ts'
import { Paused } from '../../components/paused.ts'
import { Pending } from '../../components/pending.ts'
import { SideCall } from '../../components/side-call.ts'
import { Summarizing } from '../../components/step-held.ts'
import { SummaryTask, type SummaryTaskData } from '../../components/summary-task.ts'
import { SubagentWait } from '../../components/subagent-wait.ts'
import { Terminal } from '../../components/terminal.ts'
import { Turn } from '../../components/turn.ts'
import { Unread } from '../../components/unread.ts'
import { earlierHead, framed } from '../../src/context/frames.ts'
import type { SummaryPrompt, SummaryView } from '../../src/context/summary-prompt.ts'
import { uncoveredPart } from '../../src/context/uncovered-part.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { holdStep } from '../hold-step.ts'
import { callProblem, reserve } from '../money/begin-call.ts'
import { openTurn } from '../open-turn.ts'
import { spentGrant } from '../sessions/delegation.ts'
import { tell } from '../tell.ts'

/** A text that is to take the place of what stands behind the newest boundary. */
export interface SummaryWish extends Pick<SummaryTaskData, 'by' | 'focus' | 'kind' | 'note'> {
  readonly prompt: (view: SummaryView) => SummaryPrompt
  /** Of programs that wait for it. */
  readonly requests: readonly string[]
}

/** `empty`: nothing stands there. A failure: the agent may make no call. Nothing is done then. */
export type SummaryStart = 'started' | 'empty' | Failure

/**
 * Asks the model of an agent at a quiet point for such a text; the agent's next step waits for it. Where a turn is about to
 * begin it is opened, so that the text belongs to it.
 */
export function startSummary(world: World, agent: Entity, wish: SummaryWish): SummaryStart {
  const part = uncoveredPart(world, agent)
  if (part === undefined) return 'empty'
  const { model } = world.read(agent, Llm)
  const problem = callProblem(world, agent, model) ?? spentGrant(world, agent)
  if (problem !== undefined) return problem
  if (isAboutToBegin(world, agent)) openTurn(world, agent, 0)
  const { by, focus, kind, note, prompt, requests } = wish
  const { carried, count, fromSeq, toSeq } = part
  const isChained = carried !== undefined
  const { ask, close, headings = [], system } = prompt({ by, focus, isChained, messages: count, model, note })
  const { maxOutputTokens, timeoutMs } = world.read(agent, Context).compaction
  const effect = world.spawn(
    SideCall({
      agent,
      ask,
      ...(isChained && { carried: `${earlierHead}\n${framed(carried, 'transcript')}` }),
      close,
      fromSeq,
      maxOutputTokens,
      model,
      purpose: kind === 'summary' ? 'compaction' : 'checkpoint',
      system,
      toSeq,
    }),
    SummaryTask({ by, focus, headings, kind, note, requests }),
    Effect({ attempt: 1, deadlineMs: world.nowMs + timeoutMs, kind: 'model', restart: 'pure' }),
    Pending,
  )
  reserve(world, agent, model)
  world.add(agent, Summarizing)
  holdStep(world, agent)
  tell(world, 'summary-started', { agent, effect, kind, by })
  return 'started'
}

/** A turn comes next, unless something else keeps the agent from it. */
function isAboutToBegin(world: World, agent: Entity): boolean {
  return world.has(agent, Unread) && ![Turn, Paused, SubagentWait, Terminal].some((token) => world.has(agent, token))
}
