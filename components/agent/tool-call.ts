import { z } from 'zod'
import { type DataOf, defineComponent, defineTag } from '../../src/world/component.ts'
import { entity, json } from '../../src/protocol/values.ts'
import { lazily } from '../../src/world/lazily.ts'

/** A call in an agent's last message, until its result stands in the conversation. Entities ascend in call order. */
export const ToolCall = defineComponent('ToolCall', () =>
  z.strictObject({
    arguments: z.record(z.string(), json()),
    callId: z.string(),
    /** The model's reply was cut at the token limit in the midst of it. */
    isCut: z.literal(true).optional(),
    /** What the model wrote instead of a JSON object. */
    malformed: z.string().optional(),
    name: z.string(),
  }),
)

/** The call was just asked for; nothing has been decided about it. */
export const Requested = defineTag('Requested')

/** The call may run only if a person agrees. */
export const AwaitingApproval = defineTag('AwaitingApproval')

/** A question to a person: may this call run? An effect, asked again under the same id after a restart. */
export const Approval = defineComponent('Approval', () =>
  z.strictObject({ id: z.string(), tool: z.string(), arguments: z.record(z.string(), json()) }),
)

/** The call that an approval is about; the question goes with the call. */
export const ApprovalOf = defineComponent(
  'ApprovalOf',
  () =>
    z.strictObject({
      call: entity(),
      /**
       * SHA-256 of the tool's declaration and the agent's `Permissions` when the question was asked. An answer counts only
       * while they, the tool's name and the arguments are still the same. Absent: only name and arguments are compared.
       */
      shown: z.string().optional(),
    }),
  { ref: 'call', cascade: true },
)

/** What a person answered. */
export const Answer = lazily(() => z.strictObject({ approved: z.boolean(), reason: z.string().optional() }))
export type Answer = DataOf<typeof Answer>
