import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/**
 * The template of an agent's system prompt. `${_installed_tools}` and its like stand for what the agent has; every other
 * text, `$5` and `${HOME}` included, stays as it is.
 */
export const SystemPrompt = defineComponent('SystemPrompt', () =>
  z.strictObject({
    /** Stands behind all else, as it is. */
    ending: z.string().optional(),
    template: z.string(),
  }),
)

/** The system prompt as the model sees it, where that differs from its template. Written by prompt rendering. */
export const RenderedPrompt = defineComponent('RenderedPrompt', () => z.strictObject({ text: z.string() }))
