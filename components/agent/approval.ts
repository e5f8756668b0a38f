import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { entity } from '../../src/protocol/entity.ts'
import { json } from '../../src/protocol/json.ts'

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
