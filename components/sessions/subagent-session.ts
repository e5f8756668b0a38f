import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'
import { entity } from '../../src/protocol/values.ts'
import { GrantLimits, sessionKinds, sessionStatuses, transitionProblem } from '../../src/protocol/delegation.ts'
import { SessionUsage } from '../../src/protocol/usage.ts'

const timeMs = lazily(() => z.number())
const text = lazily(() => z.string().optional())

/** A subagent's run as its parent sees it; the run is a child World. While active, also an effect of kind `session`. */
export const SubagentSession = defineComponent(
  'SubagentSession',
  () =>
    z.strictObject({
      artifactId: text(),
      category: z.string(),
      /** Takes no more queries. */
      closed: z.literal(true).optional(),
      correlationId: z.string(),
      createdAtMs: timeMs(),
      /** Unix time of the launch. */
      createdAtDateMs: timeMs().optional(),
      deadlineMs: timeMs().optional(),
      /** Tools denied above it at launch; sessions that resume it are denied them too. */
      denied: z.array(z.string()).optional(),
      error: text(),
      finishedAtMs: timeMs().optional(),
      /** 1, 2, 3 … among the parent's ended sessions. */
      finishedSequence: z.number().int().positive().optional(),
      grant: GrantLimits().optional(),
      /** The result, if short. */
      inlineContent: text(),
      kind: z.enum(sessionKinds),
      loadSkills: z.array(z.string()).optional(),
      /** Absent: a model named them. */
      loadedBy: z.literal('program').optional(),
      model: z.string(),
      mode: z.enum(['sync', 'background']),
      /** `false`: no notification. */
      notify: z.literal(false).optional(),
      parent: entity(),
      /** Of a fork: SHA-256 of the request shared with its parent; `null`: none. */
      prefixHash: z.string().nullable().optional(),
      /** Once ended only the beginning, if the records have the whole. */
      prompt: z.string(),
      /** The original size of a prompt that was cut to `maxBytes`. */
      promptCut: z.strictObject({ bytes: z.number().int(), maxBytes: z.number().int() }).optional(),
      /** Path of the whole prompt in the records. */
      promptRecord: text(),
      recordPath: text(),
      /** First 200 characters. */
      resultExcerpt: text(),
      resultBytes: z.number().int().nonnegative().optional(),
      resumedFrom: text(),
      /** 1, 2, 3 … per parent. */
      sequence: z.number().int().positive(),
      /** Also the name of its World. */
      sessionId: z.string(),
      startedAtMs: timeMs().optional(),
      status: z.enum(sessionStatuses),
      /** `true`: it is in the records. */
      summary: z.union([z.string(), z.literal(true)]).optional(),
      timeoutMs: z.number().positive().optional(),
      updatedAtMs: timeMs(),
      usage: SessionUsage().optional(),
      /** What it has used after its end besides, on questions and on archiving. */
      usageAfterEnd: SessionUsage().optional(),
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

/** On a queued or running session, to find an agent's active ones quickly. */
export const ActiveFor = defineComponent('ActiveFor', () => z.strictObject({ agent: entity() }), { ref: 'agent' })

/**
 * On a queued session whose grant others have reserved: it gives its slot back, and is admitted once there may be enough.
 * `sinceTick`: the tick of its refused admission.
 */
export const GrantAwaited = defineComponent(
  'GrantAwaited',
  () => z.strictObject({ agent: entity(), sinceTick: z.int().min(0) }),
  { ref: 'agent' },
)

/** On a session: spending already in its agent's ledger, but not in its record. */
export const ReportedUsage = defineComponent(
  'ReportedUsage',
  () => z.strictObject({ agent: entity(), usage: SessionUsage() }),
  { ref: 'agent' },
)

/** On an ended session without store or folder: its long texts, each at most `maxRecordBytes` of the Host. */
export const SessionTexts = defineComponent('SessionTexts', () =>
  z.strictObject({ result: z.string().optional(), summary: z.string().optional() }),
)
