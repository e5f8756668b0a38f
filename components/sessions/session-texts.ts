import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/**
 * Texts of an ended session that are too long for its record, where neither a store nor a folder keeps them: so they are
 * saved with the world. None is longer than `maxRecordBytes` of the Host.
 */
export const SessionTexts = defineComponent('SessionTexts', () =>
  z.strictObject({ result: z.string().optional(), summary: z.string().optional() }),
)
