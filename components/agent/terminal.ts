import { defineTag } from '../../src/world/component.ts'

/** The agent has ended for good: it begins no step, and messages to it are refused. Of this agent alone, not of its world. */
export const Terminal = defineTag('Terminal')
