import { defineTag } from '../../src/world/component.ts'

/** The agent begins no step while it has this; what is under way finishes, and messages wait. Put there by whoever wants it so. */
export const Paused = defineTag('Paused')
