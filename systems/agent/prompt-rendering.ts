import { Unread } from '../../components/agent/conversation.ts'
import { RenderedPrompt } from '../../components/agent/system-prompt.ts'
import { fullPrompt } from '../../src/rules/projection/system-prompt.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit, readyAgents } from '../kit.ts'

/**
 * Renders system prompts before a model call: fills placeholders and appends the texts of skills.
 * Writes: RenderedPrompt, if the text has changed.
 */
export function promptRendering(maxStartsPerTick: number) {
  return {
    name: 'prompt-rendering',
    priority: -2,
    wakes: [Unread],
    run(world: World): void {
      for (const agent of readyAgents(world, maxStartsPerTick)) render(world, agent)
    },
  }
}

function render(world: World, agent: Entity): void {
  const last = world.get(agent, RenderedPrompt)
  const next = fullPrompt(world, agent)
  if (next === undefined) {
    if (last !== undefined) world.remove(agent, RenderedPrompt)
    return
  }
  if (last?.text === next.text) return
  world.set(agent, RenderedPrompt, { text: next.text })
  for (const name of next.unknown) {
    // One that the last text had was warned of then.
    if (last?.text.includes(name) === true) continue
    emit(world, 'warning', { agent, message: `The system prompt has an unknown placeholder: ${name}` })
  }
}
