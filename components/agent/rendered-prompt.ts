import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** The system prompt as the model sees it, where that differs from its template. Written by prompt rendering. */
export const RenderedPrompt = defineComponent('RenderedPrompt', () => z.strictObject({ text: z.string() }))
