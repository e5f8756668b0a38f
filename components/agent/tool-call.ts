import { z } from 'zod'
import { type DataOf, defineComponent, defineTag } from '../../src/world/component.ts'
import { JudgedFields, remembering } from '../../src/protocol/policy.ts'
import { entity, json } from '../../src/protocol/values.ts'
import { lazily } from '../../src/base/lazily.ts'

/** A call in an agent's last message, until it has a result. Entities ascend in call order. */
export const ToolCall = defineComponent('ToolCall', () =>
  z.strictObject({
    arguments: z.record(z.string(), json()),
    callId: z.string(),
    /** The reply hit the token limit in the midst of it. */
    isCut: z.literal(true).optional(),
    malformed: z.string().optional(),
    name: z.string(),
  }),
)

/** A tool call that has not been decided yet. */
export const Requested = defineTag('Requested')

/** The call has a result, which was emitted; the conversation gets it behind those of earlier calls. */
export const Reported = defineTag('Reported')

/** The call may run only if a person agrees. */
export const AwaitingApproval = defineTag('AwaitingApproval')

/** An effect: asks a person whether a call may run, under the same id after a restart. */
export const Approval = defineComponent('Approval', () =>
  z.strictObject({
    id: z.string(),
    tool: z.string(),
    arguments: z.record(z.string(), json()),
    callId: z.string().optional(),
    /** Of an agent with a `Policy`. */
    ...z.object(JudgedFields()).partial().shape,
  }),
)

/** Which call an approval is about. */
export const ApprovalOf = defineComponent(
  'ApprovalOf',
  () =>
    z.strictObject({
      call: entity(),
      /** SHA-256 of declaration and `Permissions` as asked: an answer counts only if unchanged. Absent: unchecked. */
      shown: z.string().optional(),
    }),
  { ref: 'call', cascade: true },
)

/** A person's answer. */
export const Answer = lazily(() =>
  z.strictObject({
    approved: z.boolean(),
    /** In a person's words; the model reads them. */
    reason: z.string().optional(),
    /** Later calls of the tool (`session`), or those whose command begins alike (`command`), are not asked about. */
    remember: z.enum(remembering).optional(),
    /** With a no: the turn ends, and calls that were not answered do not run. */
    stopTurn: z.literal(true).optional(),
  }),
)
export type Answer = DataOf<typeof Answer>
