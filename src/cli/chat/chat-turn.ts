import { StepStopped } from '../../../components/agent/agent-tags.ts'
import { Approval, ToolCall } from '../../../components/agent/tool-call.ts'
import { OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import { callHint, progressLine } from '../../runtime/chat/progress.ts'
import { visibleText } from '../../tools/files/clean-text.ts'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import type { ToolCallEvent } from '../../runtime/chat/tool-call-event.ts'
import type { Asking } from '../../runtime/ask/ask.ts'
import type { Answer } from '../../runtime/ask/answer.ts'
import type { AskPart } from '../../runtime/ask/part.ts'
import { cutText } from '../../base/cut-text.ts'
import { durationText, many, numberText } from '../terminal/amounts.ts'
import type { ChatUi } from './chat-ui.ts'
import { failureText } from './model-advice.ts'

/** How a turn is shown. */
export interface TurnView {
  readonly session: ChatSession
  readonly ui: ChatUi
  /** With what the model thinks. */
  readonly isVerbose: boolean
  /** A model call begins: the agent has read all that was typed. */
  readonly onStep: () => void
  /** A part of it has been shown. */
  readonly onShown?: (() => void) | undefined
}

/** Shows a turn as it happens, until it has ended. */
export async function showTurn(asking: Asking, { isVerbose, onShown, onStep, session, ui }: TurnView): Promise<void> {
  const since = performance.now()
  let hasReply = false
  let thinking = ''
  if (!session.isStopped) ui.work('thinking')
  try {
    for await (const part of asking.parts) {
      if (part.type === 'thinking') {
        thinking += part.text
        onShown?.()
        continue
      }
      if (isVerbose && thinking.trim() !== '') ui.say(thinking.trim(), 'dim')
      thinking = ''
      if (part.type === 'step') {
        // Behind another one, to which a line was typed meanwhile.
        await ui.replyEnd()
        onStep()
      }
      if (part.type === 'step' || part.type === 'text') hasReply = part.type === 'text'
      if (part.type === 'step-stopped') {
        await showStopped(session, ui)
        continue
      }
      if (part.type === 'end') {
        await ui.replyEnd()
        return showEnd(part.answer, { session, ui, hasReply, durationMs: performance.now() - since })
      }
      await showPart(part, ui)
      // Of a resumed turn: nothing is under way.
      if (session.isStopped) ui.work(undefined)
      onShown?.()
    }
  } finally {
    await ui.replyEnd()
    ui.work(undefined)
  }
}

/** What had been written stays on the screen, and the line is the user's. */
async function showStopped(session: ChatSession, ui: ChatUi): Promise<void> {
  await ui.replyEnd()
  if (!session.isStopped) return
  ui.work(undefined)
  ui.say('Stopped. Say how to go on; Esc twice goes back to your last message.', 'yellow')
}

/** Shows a call that has its result, by one line. */
export async function showCall(event: ToolCallEvent, ui: ChatUi): Promise<void> {
  await ui.replyEnd()
  if (event.outcome === 'ran' && event.success) return ui.say(progressLine(event), 'dim')
  ui.say([progressLine(event), ...problemLines(event)].join('\n'), event.outcome === 'ran' ? 'red' : 'yellow')
}

/** Lines of a problem that the chat shows, the last, where a command says what is wrong. */
const maxProblemLines = 3
const maxProblemChars = 200

/** Why a call that ran has failed. */
function problemLines({ outcome, result }: ToolCallEvent): readonly string[] {
  if (outcome !== 'ran') return []
  const lines = result.split('\n').filter((line) => line.trim() !== '')
  const shown = result.startsWith('Error: ') ? lines.slice(0, 1) : lines.slice(-maxProblemLines)
  return shown.map((line) => `    ${cutText(line.trim(), maxProblemChars, '…')}`)
}

async function showPart(part: AskPart, ui: ChatUi): Promise<void> {
  switch (part.type) {
    case 'step':
      return ui.work('thinking')
    case 'text':
      ui.work('writing')
      return ui.reply(part.text)
    case 'discarded':
      return ui.replyDiscarded()
    case 'retry':
      await ui.replyEnd()
      return ui.say(`${part.failure.message.replace(/\.?$/, '.')} Retrying.`, 'yellow')
    case 'tool-call':
      await ui.replyEnd()
      return ui.work(part.tool)
    case 'tool-progress':
      return ui.work(part.message)
    case 'session-started':
      return ui.say(`  [${part.category}] started: ${firstLine(part.task)}`, 'dim')
    case 'session-ended':
      return ui.say(`  [subagent] ${part.status}${part.error === null ? '' : `: ${firstLine(part.error)}`}`, 'dim')
    case 'skipped':
      return ui.say(`(${many(part.parts, 'message')} could not be shown in time.)`, 'dim')
    default:
      return undefined
  }
}

interface EndFacts {
  readonly session: ChatSession
  readonly ui: ChatUi
  readonly hasReply: boolean
  readonly durationMs: number
}

function showEnd(answer: Answer, { session, ui, hasReply, durationMs }: EndFacts): void {
  const { failure, stop, text, isTruncated } = answer
  ui.gap()
  if (stop === 'failed' || stop === 'budget-spent') {
    const model = `${session.provider}/${session.model}`
    ui.say(failure === undefined ? text : failureText(failure, model), 'red')
    if (stop === 'budget-spent') ui.say('/resume-after-cost-ceiling goes on.', 'yellow')
  } else if (stop !== 'done') ui.say(text, 'yellow')
  else if (!hasReply && text !== '') ui.say(text)
  if (stop === 'max-steps') ui.say('Say what to do next, or just: go on.', 'dim')
  if (isTruncated) ui.say('(The reply was cut at the model’s output limit.)', 'yellow')
  ui.say(usageText(answer, durationMs), 'dim')
}

/** `3 steps · 12,345 tokens in · 210 out · $0.0123 · 4.2 s`. */
function usageText({ costUsd, steps, usage }: Answer, durationMs: number): string {
  const { input, output } = usage
  return [
    many(steps, 'step'),
    ...(input === undefined ? [] : [`${numberText(input)} tokens in`]),
    ...(output === undefined ? [] : [`${numberText(output)} out`]),
    ...(costUsd === undefined || costUsd === 0 ? [] : [`$${costUsd.toFixed(4)}`]),
    durationText(durationMs),
  ].join(' · ')
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}

/** What was under way in a stored turn, and what becomes of it. */
export function interruptedText({ agent, world }: ChatSession): string {
  const owned = world.referrers(OwnedBy, agent)
  const calls = owned.flatMap((entity) => {
    const call = world.has(entity, Running) ? world.get(entity, ToolCall) : undefined
    return call === undefined ? [] : [visibleText(`${call.name} ${callHint(call.name, call.arguments)}`.trim())]
  })
  if (world.has(agent, StepStopped)) return 'The turn was stopped: say how it goes on.'
  const isAsking = owned.some((entity) => world.has(entity, Approval) && world.has(entity, Pending))
  if (calls.length > 0) {
    const again = 'What is safe to repeat runs again; of anything else the agent reads that it may have taken effect.'
    return `The turn was interrupted during ${calls.join(', ')}. ${again}`
  }
  return isAsking ? 'The turn waits for your answer.' : 'The turn was interrupted, and goes on.'
}
