import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** Placeholders such as `${_installed_tools}` are filled in; other text, `$5` and `${HOME}` included, stays. */
export const SystemPrompt = defineComponent('SystemPrompt', () =>
  z.strictObject({
    /** Literal text behind everything else. */
    ending: z.string().optional(),
    template: z.string(),
  }),
)

/** The system prompt as the model sees it, where that differs from its template. Written by prompt rendering. */
export const RenderedPrompt = defineComponent('RenderedPrompt', () => z.strictObject({ text: z.string() }))
