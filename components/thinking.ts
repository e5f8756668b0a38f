import { defineTag } from '../src/world/component.ts'

/** A model call of the agent is under way. */
export const Thinking = defineTag('Thinking')
