import { Busy } from '../components/busy.ts'
import { Conversation } from '../components/conversation.ts'
import { Llm } from '../components/llm.ts'
import { Paused } from '../components/paused.ts'
import { RenderedPrompt } from '../components/rendered-prompt.ts'
import { SystemPrompt } from '../components/system-prompt.ts'
import { Terminal } from '../components/terminal.ts'
import { ToolRegistry } from '../components/tool-registry.ts'
import { Unread } from '../components/unread.ts'
import { hasPlaceholder, renderPrompt } from '../src/models/render-prompt.ts'
import type { Entity } from '../src/world/component.ts'
import { not } from '../src/world/entities.ts'
import type { World } from '../src/world/world.ts'
import { tell } from './tell.ts'

/**
 * Fills in the system prompts of the agents that are about to think. A prompt without placeholders is sent as it stands.
 *
 * Query: those that reasoning will start, with SystemPrompt. Writes: RenderedPrompt, when the text has changed.
 */
export function promptRendering(maxStartsPerTick: number) {
  return {
    name: 'prompt-rendering',
    priority: -20,
    run(world: World): void {
      const terms = [Llm, Conversation, SystemPrompt, Unread, not(Busy), not(Paused), not(Terminal)]
      for (const agent of world.first(maxStartsPerTick, ...terms)) render(world, agent)
    },
  }
}

function render(world: World, agent: Entity): void {
  const { template } = world.read(agent, SystemPrompt)
  if (!hasPlaceholder(template)) return world.remove(agent, RenderedPrompt)
  const { text, unknown } = renderPrompt(template, world.get(agent, ToolRegistry)?.tools ?? [])
  if (world.get(agent, RenderedPrompt)?.text === text) return
  world.set(agent, RenderedPrompt, { text })
  for (const name of unknown) {
    tell(world, 'warning', { agent, message: `The system prompt has an unknown placeholder: ${name}` })
  }
}
