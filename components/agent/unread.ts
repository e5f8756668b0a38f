import { defineTag } from '../../src/world/component.ts'

/** The agent's conversation ends in something that its model has not answered. Comes by itself with what is written there. */
export const Unread = defineTag('Unread')
