import { RenderedPrompt } from '../components/rendered-prompt.ts'
import { SystemPrompt } from '../components/system-prompt.ts'
import { ToolRegistry } from '../components/tool-registry.ts'
import { hasPlaceholder, renderPrompt } from '../src/models/render-prompt.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { readyAgents } from './ready-agents.ts'
import { tell } from './tell.ts'

/**
 * Fills in the system prompts of the agents that are about to think. A prompt without placeholders is sent as it stands.
 *
 * Query: the agents that reasoning will start. Writes: RenderedPrompt, when the text has changed.
 */
export function promptRendering(maxStartsPerTick: number) {
  return {
    name: 'prompt-rendering',
    priority: -2,
    run(world: World): void {
      for (const agent of readyAgents(world, maxStartsPerTick)) {
        if (world.has(agent, SystemPrompt)) render(world, agent)
      }
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
