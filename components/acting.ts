import { defineTag } from '../src/world/component.ts'

/** Tool calls of the agent's last message are not all answered. */
export const Acting = defineTag('Acting')
