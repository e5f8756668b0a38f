import { z } from 'zod'
import { defineComponent } from '../src/world/component.ts'

/** The system prompt as the model sees it, placeholders filled in. Written by prompt rendering when it changes. */
export const RenderedPrompt = defineComponent('RenderedPrompt', z.strictObject({ text: z.string() }))
