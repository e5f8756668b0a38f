import { defineTag } from '../../src/world/component.ts'

/** A step of the agent is under way: its model is being asked, or tools that it called are not all answered. */
export const Busy = defineTag('Busy')
