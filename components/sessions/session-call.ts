import { z } from 'zod'
import { type DataOf, defineComponent, defineTag } from '../../src/world/component.ts'
import { entity, json } from '../../src/protocol/values.ts'
import { GrantLimits } from '../../src/protocol/delegation.ts'
import { SessionUsage } from '../../src/protocol/usage.ts'

/** The tool call is answered when this session ends: with its text, or as `read` says. */
export const AwaitingSession = defineComponent(
  'AwaitingSession',
  () =>
    z.strictObject({
      read: z
        .strictObject({ method: z.enum(['full', 'summary']), offset: z.number().int().nonnegative().optional() })
        .optional(),
      session: entity(),
      timeoutMs: z.number().nonnegative().optional(),
    }),
  { ref: 'session' },
)

/** The tool call's answer, except for what its effect adds. */
export const Answering = defineComponent('Answering', () =>
  z.strictObject({
    answer: z.record(z.string(), json()),
    /** A place in the queue, or at most so many bytes of a record. */
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

/** An effect of kind `query`: a further turn of a session that has succeeded. */
export const SessionQuery = defineComponent(
  'SessionQuery',
  () =>
    z.strictObject({
      agent: entity(),
      /** Answers this tool call; absent: a program collects the reply. */
      call: entity().optional(),
      /** Set aside from its asker's budget. Absent: it has not begun. */
      grant: GrantLimits().optional(),
      id: z.string(),
      prompt: z.string(),
      /** Kept until a program collects it. */
      reply: z
        .discriminatedUnion('ok', [
          z.strictObject({ ok: z.literal(true), text: z.string() }),
          z.strictObject({ error: z.string(), ok: z.literal(false) }),
        ])
        .optional(),
      /** A name or handle whose value the asker is to get as well. */
      returnName: z.string().optional(),
      session: entity(),
    }),
  { ref: 'session', cascade: true },
)

export type SessionQueryData = DataOf<() => typeof SessionQuery.schema>

/** The tool call is answered by the session's reply. */
export const AwaitingReply = defineTag('AwaitingReply')

/** On a session: a program has taken its result. */
export const Collected = defineComponent('Collected', () => z.strictObject({ atMs: z.number() }))

/** On a session's agent: its latest query and usage before it, so that a crash repeats it under the same grant. */
export const LastQuestion = defineComponent('LastQuestion', () =>
  z.strictObject({ id: z.string(), usedBefore: SessionUsage() }),
)
