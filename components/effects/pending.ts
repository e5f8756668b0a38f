import { defineTag } from '../../src/world/component.ts'

/**
 * The effect is to be done: it begins once this is committed, in a slot of its queue. Found after a restart: a `once`
 * effect never began, any other may have begun and begins again.
 */
export const Pending = defineTag('Pending')
