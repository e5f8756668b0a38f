import { z } from 'zod'
import { defineLog } from '../../src/world/component.ts'

/** Ids of inputs that were posted under an id, newest last: one that comes again is dropped. One entity a world. */
export const SeenInputs = defineLog('SeenInputs', () => z.string())

/** So many are remembered at least. */
export const minSeenInputs = 1_024
