import { z } from 'zod'
import { lazily } from '../../../src/world/lazily.ts'

/** A text with something in it. */
export const filledText = lazily(() =>
  z.string().refine((text) => text.trim() !== '', 'expected a text that is not empty'),
)

/** Seconds, as a number or as a text that is one. */
const numeric = lazily(() =>
  z
    .union([
      z.number(),
      z
        .string()
        .refine((text) => text.trim() !== '' && Number.isFinite(Number(text)), 'expected a number')
        .transform(Number),
    ])
    .refine((value) => Number.isFinite(toMs(value)), 'expected a number of seconds that can be counted'),
)

/** A length of time of more than nothing, in seconds; milliseconds come out. */
export const positiveSeconds = lazily(() =>
  numeric()
    .refine((value) => value > 0, 'expected a number of seconds above 0')
    .transform(toMs),
)

/** A length of time in seconds, perhaps none; milliseconds come out. */
export const someSeconds = lazily(() =>
  numeric()
    .refine((value) => value >= 0, 'expected a number of seconds of at least 0')
    .transform(toMs),
)

/** A session as a model names it: an id, a unique prefix, or a sequence number. */
export const sessionName = lazily(() => z.union([filledText(), z.number().int().positive().transform(String)]))

/** Rounded so that 0.05 s is 50 ms and not a little more; but never to nothing. */
function toMs(value: number): number {
  const rounded = Math.round(value * 1e6) / 1e3
  return rounded === 0 ? value * 1e3 : rounded
}
