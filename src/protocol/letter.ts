import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'
import { failureKinds } from './failure.ts'
import { PolicyMarks } from './policy.ts'
import { SessionUsage } from './usage.ts'

const end = lazily(() =>
  z.discriminatedUnion('ok', [
    z.strictObject({ ok: z.literal(true), text: z.string() }),
    z.strictObject({ ok: z.literal(false), error: z.string(), kind: z.enum(failureKinds) }),
  ]),
)

/** What a session that runs elsewhere tells the world that launched it. */
export const SessionNews = lazily(() =>
  z.discriminatedUnion('kind', [
    /** It has a slot, and waits for its grant. */
    z.strictObject({ kind: z.literal('slot') }),
    /** What it has spent so far, in all. */
    z.strictObject({ kind: z.literal('spent'), usage: SessionUsage() }),
    z.strictObject({
      kind: z.literal('end'),
      /** Absent: it is too long for a letter, and its World has it; where that is lost too, the session was interrupted. */
      end: end().optional(),
      /** Turns of it are still being archived. */
      isArchiving: z.literal(true).optional(),
      marks: PolicyMarks().optional(),
      /** Its own sessions have not all told what they spent: what it has spent in all comes as `stopped`. */
      isUnsettled: z.literal(true).optional(),
      /** Absent, unless it comes later: it was given up, and what it has spent is in its World. */
      usage: SessionUsage().optional(),
    }),
    /** It is over, and this is what it has spent in all. The last that it tells. */
    z.strictObject({ kind: z.literal('stopped'), usage: SessionUsage() }),
  ]),
)
export type SessionNews = DataOf<typeof SessionNews>

/** A letter, as one world or a program writes it for a world: one line of JSON in a store. */
const LetterData = lazily(() =>
  z.union([
    /** An input, as `runner.post` takes it. */
    z.strictObject({ input: z.looseObject({ kind: z.string() }) }),
    /** To the world that has launched a session, from that session. */
    z.strictObject({ session: z.string(), news: SessionNews() }),
    /** To a session: what it may spend. It begins with this. */
    z.strictObject({ grant: z.looseObject({}) }),
    /** To a session that has a slot: others have reserved what it may spend. It rests until it has its grant. */
    z.strictObject({ wait: z.literal(true) }),
    /** To a session: it ends, and says what it has spent. */
    z.strictObject({ stop: z.string() }),
  ]),
)
export type LetterData = DataOf<typeof LetterData>

export function letterLine(letter: LetterData): string {
  return JSON.stringify(letter)
}

/** What a line says; a string: why it is no letter. */
export function readLetter(line: string): LetterData | string {
  let read: unknown
  try {
    read = JSON.parse(line)
  } catch {
    return 'it is no JSON'
  }
  const { data, error } = LetterData().safeParse(read)
  return data ?? error?.issues[0]?.message ?? 'it has none of the shapes of letters'
}
