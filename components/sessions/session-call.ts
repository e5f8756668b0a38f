import { z } from 'zod'
import { type DataOf, defineComponent, defineTag } from '../../src/world/component.ts'
import { entity, json } from '../../src/protocol/values.ts'
import { GrantLimits } from '../../src/protocol/delegation.ts'
import { SessionUsage } from '../../src/protocol/usage.ts'

/** The tool call is answered when this session has ended: with its text, or as `subagent_result` says. */
export const AwaitingSession = defineComponent(
  'AwaitingSession',
  () =>
    z.strictObject({
      /** Of `subagent_result`; absent: the answer is the session's text. */
      read: z
        .strictObject({ method: z.enum(['full', 'summary']), offset: z.number().int().nonnegative().optional() })
        .optional(),
      session: entity(),
      timeoutMs: z.number().nonnegative().optional(),
    }),
  { ref: 'session' },
)

/** The tool call's answer, but for what its effect brings: a place in the queue, or a text from the records. */
export const Answering = defineComponent('Answering', () =>
  z.strictObject({
    answer: z.record(z.string(), json()),
    /** Asks for a session's place in the queue, or for a text of so many bytes at most. */
    wants: z.union([
      z.strictObject({ queuePositionOf: z.string() }),
      z.strictObject({
        offset: z.number().int().nonnegative(),
        part: z.enum(['full', 'summary']),
        recordPath: z.string(),
      }),
    ]),
  }),
)

/** A further question to a session that has succeeded: a turn of its World. An effect of kind `query`. */
export const SessionQuery = defineComponent(
  'SessionQuery',
  () =>
    z.strictObject({
      agent: entity(),
      /** The tool call that it answers; absent: a program asked, and collects the reply. */
      call: entity().optional(),
      /** What the session may spend on it, set aside of what its asker has left. Absent: its turn has not come. */
      grant: GrantLimits().optional(),
      id: z.string(),
      prompt: z.string(),
      /** Until a program has collected it. */
      reply: z
        .discriminatedUnion('ok', [
          z.strictObject({ ok: z.literal(true), text: z.string() }),
          z.strictObject({ error: z.string(), ok: z.literal(false) }),
        ])
        .optional(),
      session: entity(),
    }),
  { ref: 'session', cascade: true },
)

export type SessionQueryData = DataOf<() => typeof SessionQuery.schema>

/** The tool call is answered when a session has replied to its question. */
export const AwaitingReply = defineTag('AwaitingReply')

/** A result that a program has collected. On the session. */
export const Collected = defineComponent('Collected', () => z.strictObject({ atMs: z.number() }))

/**
 * The question that a session was asked last, of those that came after its end, and what it had used before. On the agent of
 * the session's World: one that is asked again after a crash is at the same question, with the same grant.
 */
export const LastQuestion = defineComponent('LastQuestion', () =>
  z.strictObject({ id: z.string(), usedBefore: SessionUsage() }),
)
