import { z } from 'zod'

/** The number of an entity of the same world. */
export const entity = lazily(() => z.number().int().positive())