import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'
import { json } from '../../src/protocol/json.ts'

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
