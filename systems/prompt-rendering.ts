import { RenderedPrompt } from '../components/rendered-prompt.ts'
import { SystemPrompt } from '../components/system-prompt.ts'
import { ToolRegistry } from '../components/tool-registry.ts'
import { Unread } from '../components/unread.ts'
import { renderPrompt } from '../src/models/render-prompt.ts'
import type { World } from '../src/world/world.ts'
import { tell } from './tell.ts'

/**
 * Fills in the system prompts of the agents that are about to think.
 *
 * Query: SystemPrompt, Unread. Writes: RenderedPrompt, when the text has changed.
 */
export const promptRendering = {
  name: 'prompt-rendering',
  priority: -20,
  run(world: World): void {
    for (const agent of world.query(SystemPrompt, Unread)) {
      const { text, unknown } = renderPrompt(world.read(agent, SystemPrompt), world.get(agent, ToolRegistry))
      if (world.get(agent, RenderedPrompt)?.text === text) continue
      world.set(agent, RenderedPrompt, { text })
      for (const name of unknown) {
        tell(world, 'warning', { agent, message: `The system prompt has an unknown placeholder: ${name}` })
      }
    }
  },
}
