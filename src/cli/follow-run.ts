import { Conversation, type Entity, LastTurn, type Message, type Runner, textOf, Usage, type World } from '../index.ts'
import { ToolCall } from '../../components/tool-call.ts'
import { Turn } from '../../components/turn.ts'
import type { AnsweredTool, AskEvent, Totals } from './ask-event.ts'

/** Tells what happens in a run: the Runner's events, with what they point at in the world. */
export function followRun({ runner, agent }: { runner: Runner; agent: Entity }, tell: (event: AskEvent) => void): void {
  const { world } = runner
  runner.on('model-called', ({ tick, index, step }) => tell({ type: 'model-called', tick, index, step }))
  runner.on('model-delta', ({ delta }) => {
    if (delta.type === 'tool-call') tell({ type: 'model-delta', kind: 'tool-call', text: delta.name })
    else if (delta.type !== 'tool-arguments') tell({ type: 'model-delta', kind: delta.type, text: delta.text })
  })
  runner.on('model-discarded', () => tell({ type: 'model-discarded' }))
  runner.on('model-replied', ({ tick, index, usage }) => tell({ type: 'model-replied', tick, index, usage }))
  runner.on('retry-scheduled', ({ tick, index, attempt, atMs, failure }) => {
    tell({ type: 'retry-scheduled', tick, index, attempt, waitMs: atMs - world.nowMs, failure })
  })
  runner.on('tool-called', ({ tick, index, effect, callId, tool }) => {
    const { arguments: input } = world.read(effect, ToolCall)
    tell({ type: 'tool-called', tick, index, callId, tool, arguments: input })
  })
  runner.on('tool-progressed', ({ message, fraction }) => tell({ type: 'tool-progressed', message, fraction }))
  runner.on('tool-answered', ({ tick, index, callId }) => {
    const answered = toolsOf(world, agent).find((tool) => tool.callId === callId)
    if (answered !== undefined) tell({ type: 'tool-answered', tick, index, ...answered })
  })
  runner.on('warning', ({ message }) => tell({ type: 'warning', message }))
  runner.on('commit-failed', ({ tick, attempt, message }) => {
    tell({ type: 'warning', message: `Tick ${tick} could not be written down (try ${attempt}): ${message}` })
  })
  runner.on('listener-failed', ({ event, message }) => {
    tell({ type: 'warning', message: `An event '${event}' could not be shown: ${message}` })
  })
}

/** The tool calls that are answered, oldest first. */
export function toolsOf(world: World, agent: Entity): AnsweredTool[] {
  const messages: readonly Message[] = world.get(agent, Conversation) ?? []
  const asked = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []))
  const calls = asked.filter((block) => block.type === 'tool-call')
  return messages.flatMap((message) => {
    if (message.role !== 'tool') return []
    const { callId, name: tool, isError = false } = message
    const input = calls.find(({ id }) => id === callId)?.arguments ?? {}
    return [{ callId, tool, arguments: input, isError, text: textOf(message) }]
  })
}

/** What a run has used so far. */
export function totalsOf(world: World, agent: Entity): Totals {
  const { calls: modelCalls, ...usage } = world.get(agent, Usage) ?? { calls: 0 }
  const turn = world.get(agent, LastTurn) ?? world.get(agent, Turn)
  const endMs = turn !== undefined && 'endedAtMs' in turn ? turn.endedAtMs : world.nowMs
  const durationMs = endMs - (turn?.startedAtMs ?? world.nowMs)
  return { modelCalls, toolCalls: toolsOf(world, agent).length, usage, durationMs }
}
