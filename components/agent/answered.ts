import { defineTag } from '../../src/world/component.ts'

/** The agent's model has given a final text in this tick; the end of the turn is to be decided. */
export const Answered = defineTag('Answered')
