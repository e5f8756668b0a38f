import { defineTag } from '../../src/world/component.ts'

/** The step under way is the last that the agent's turn may take. */
export const LastStep = defineTag('LastStep')
