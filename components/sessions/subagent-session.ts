import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { entity } from '../../src/protocol/values.ts'
import { GrantLimits, sessionKinds, sessionStatuses, transitionProblem } from '../../src/protocol/delegation.ts'
import { SessionUsage } from '../../src/protocol/usage.ts'

const timeMs = lazily(() => z.number())
const text = lazily(() => z.string().optional())

/**
 * A subagent's run as its parent sees it; the run itself is a child World. The entity is the session's effect as well,
 * of kind `session`, while the session is active. Written by the subagent scheduler, `status` only along its transitions.
 */
export const SubagentSession = defineComponent(
  'SubagentSession',
  () =>
    z.strictObject({
      artifactId: text(),
      category: z.string(),
      /** No query is taken any more. */
      closed: z.literal(true).optional(),
      correlationId: z.string(),
      createdAtMs: timeMs(),
      deadlineMs: timeMs().optional(),
      /** Tools that were denied above it when it was launched; a session that goes on with it is denied them as well. */
      denied: z.array(z.string()).optional(),
      error: text(),
      finishedAtMs: timeMs().optional(),
      /** Its place among the ended sessions of its parent, from 1. */
      finishedSequence: z.number().int().positive().optional(),
      /** What it may spend, from admission to its end. */
      grant: GrantLimits().optional(),
      /** The result, where it is short enough to be kept here. */
      inlineContent: text(),
      kind: z.enum(sessionKinds),
      loadSkills: z.array(z.string()).optional(),
      /** Who named `loadSkills`; absent: a model. */
      loadedBy: z.literal('program').optional(),
      /** `provider/model`. */
      model: z.string(),
      mode: z.enum(['sync', 'background']),
      /** `false`: its end leaves no notification. */
      notify: z.literal(false).optional(),
      parent: entity(),
      /** Of a fork: SHA-256 of the request that it shares with its parent; `null`: there was nothing to share. */
      prefixHash: z.string().nullable().optional(),
      /** Of an ended session: the beginning, where the whole lies in the records. */
      prompt: z.string(),
      /** The bytes of a prompt of which only the beginning is left, since the world could keep no more than `maxBytes`. */
      promptCut: z.strictObject({ bytes: z.number().int(), maxBytes: z.number().int() }).optional(),
      /** Where the whole of a long prompt lies in the records. */
      promptRecord: text(),
      recordPath: text(),
      /** The result's first 200 characters. */
      resultExcerpt: text(),
      /** Bytes of the result. */
      resultBytes: z.number().int().nonnegative().optional(),
      /** The session that this one goes on with. */
      resumedFrom: text(),
      /** 1, 2, 3 … per parent. */
      sequence: z.number().int().positive(),
      /** The id by which models and programs name it, and the name of its World. */
      sessionId: z.string(),
      startedAtMs: timeMs().optional(),
      status: z.enum(sessionStatuses),
      /** `true`: it lies in the records, beside the result. */
      summary: z.union([z.string(), z.literal(true)]).optional(),
      timeoutMs: z.number().positive().optional(),
      updatedAtMs: timeMs(),
      usage: SessionUsage().optional(),
    }),
  {
    ref: 'parent',
    cascade: true,
    refusal: (before, after) => {
      const problem = before.status === after.status ? undefined : transitionProblem(before.status, after.status)
      if (problem === undefined) return undefined
      return { code: 'illegal-transition', reason: `Session ${before.sessionId}: ${problem}.` }
    },
  },
)
export type SubagentSessionData = DataOf<() => typeof SubagentSession.schema>

/** The session is queued or running: by this reference an agent's active sessions are found, however many have ended. */
export const ActiveFor = defineComponent('ActiveFor', () => z.strictObject({ agent: entity() }), { ref: 'agent' })

/**
 * What a session has reported of its spending before its record holds it, and its agent's ledger holds already. On the
 * session.
 */
export const ReportedUsage = defineComponent(
  'ReportedUsage',
  () => z.strictObject({ agent: entity(), usage: SessionUsage() }),
  { ref: 'agent' },
)

/**
 * Texts of an ended session that are too long for its record, where neither a store nor a folder keeps them: so they are
 * saved with the world. None is longer than `maxRecordBytes` of the Host.
 */
export const SessionTexts = defineComponent('SessionTexts', () =>
  z.strictObject({ result: z.string().optional(), summary: z.string().optional() }),
)
