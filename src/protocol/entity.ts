import { z } from 'zod'
import { lazily } from '../world/lazily.ts'

/** The number of an entity of the same world. */
export const entity = lazily(() => z.number().int().positive())
