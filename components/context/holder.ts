import { z } from 'zod'
import { type DataOf, defineComponent, defineTag } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'
import { entity } from '../../src/protocol/values.ts'

/** What it takes to name and query a holder. */
export const KnownHolder = lazily(() =>
  z.strictObject({
    /** It holds a turn of another agent. */
    isTold: z.literal(true).optional(),
    model: z.string(),
    sessionId: z.string(),
    task: z.string(),
  }),
)
export type KnownHolder = DataOf<typeof KnownHolder>

/** A holder being made. Outlives its job, so that leftovers can be removed. */
export const HolderDraft = defineComponent('HolderDraft', () =>
  z.strictObject({
    /** Its transcript was written: only then is the file under its key ours to remove. */
    isWritten: z.literal(true).optional(),
    sessionId: z.string(),
    /** Attempts at removal. */
    tries: z.number().int().nonnegative(),
  }),
)

/** Without it the draft is to be removed. */
export const DraftOf = defineComponent('DraftOf', () => z.strictObject({ job: entity() }), { ref: 'job' })

/** On a session: holds a turn of this agent. */
export const HolderOf = defineComponent('HolderOf', () => z.strictObject({ agent: entity() }), { ref: 'agent' })

/** Makes an agent a holder: its first `count` messages are another agent's turn. */
export const Seed = defineComponent('Seed', () => z.strictObject({ count: z.number().int().positive() }))

/** On an ended session: turns may still be on their way to holders. */
export const Unsettled = defineTag('Unsettled')

/** An effect of kind `settling`: drives that session's World on. */
export const Settling = defineComponent(
  'Settling',
  () => z.strictObject({ session: entity(), tries: z.number().int().positive() }),
  { ref: 'session', cascade: true },
)

/** Of a fork: the parent's list of live subagents, used until the fork has its own. */
export const SharedBlock = defineComponent('SharedBlock', () => z.strictObject({ text: z.string() }))

/** The agent's session had ended and was queried again. Only where turns may be archived. */
export const AskedAgain = defineTag('AskedAgain')

/** No one can approve for this agent: what needs an approval is denied. */
export const ApprovalsDenied = defineTag('ApprovalsDenied')
