import { z } from 'zod'
import { type DataOf, defineComponent, defineTag } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { entity } from '../../src/protocol/values.ts'

/** What is to be known of a holder to name it and to ask it. */
export const KnownHolder = lazily(() =>
  z.strictObject({
    /** It holds a turn of another agent's conversation. */
    isTold: z.literal(true).optional(),
    /** `provider/model`. */
    model: z.string(),
    sessionId: z.string(),
    task: z.string(),
  }),
)
export type KnownHolder = DataOf<typeof KnownHolder>

/** A holder that is being made. It outlasts its job, so that what was made of it can be removed. */
export const HolderDraft = defineComponent('HolderDraft', () =>
  z.strictObject({
    /** Its transcript was written. Only then may the file under its key be removed: it is not another run's. */
    isWritten: z.literal(true).optional(),
    sessionId: z.string(),
    /** Of its removal. */
    tries: z.number().int().nonnegative(),
  }),
)

/** The job that makes it. Without one the draft is to be removed. */
export const DraftOf = defineComponent('DraftOf', () => z.strictObject({ job: entity() }), { ref: 'job' })

/** The session holds a turn of this agent's conversation. On the session. */
export const HolderOf = defineComponent('HolderOf', () => z.strictObject({ agent: entity() }), { ref: 'agent' })

/** Makes an agent a holder: its first so many messages are a turn of another agent. */
export const Seed = defineComponent('Seed', () => z.strictObject({ count: z.number().int().positive() }))

/** Turns of this session, which has ended, may still be on their way to holders. On the session. */
export const Unsettled = defineTag('Unsettled')

/** The World of that session is driven on for it. An effect of kind `settling`. */
export const Settling = defineComponent(
  'Settling',
  () => z.strictObject({ session: entity(), tries: z.number().int().positive() }),
  { ref: 'session', cascade: true },
)

/**
 * Of a fork: the list of live subagents in the system prompt that it shares with its parent. It stands there until the fork
 * has something of its own to list.
 */
export const SharedBlock = defineComponent('SharedBlock', () => z.strictObject({ text: z.string() }))

/** The session of this agent had ended, and was asked a further question. Of agents whose turns may be archived. */
export const AskedAgain = defineTag('AskedAgain')

/** Nobody can agree to what this agent does: what needs an approval is denied. */
export const ApprovalsDenied = defineTag('ApprovalsDenied')
