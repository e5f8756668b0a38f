import { z } from 'zod'
import { type DataOf, defineComponent, defineTag } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'
import { entity } from '../../src/protocol/values.ts'
import { HandleEntry } from '../../src/protocol/handle.ts'

/** The agent keeps long results of its tools under handles, and so do its sessions. */
export const Workspace = defineTag('Workspace')

const handleFields = lazily(() => ({
  /** It was live, and the process that had it has ended. */
  isLost: z.literal(true).optional(),
  /** 1, 2, 3 … per agent, never used again. */
  number: z.number().int().positive(),
  ...HandleEntry().shape,
}))

/** A value of a tool call that was kept for an agent, as `.h_001` and so on. The content is in the records. */
export const Handle = defineComponent('Handle', () => z.strictObject({ agent: entity(), ...handleFields() }), {
  ref: 'agent',
  cascade: true,
})
export type HandleData = DataOf<() => typeof Handle.schema>

/** What a fork knows of its parent's handles. */
export const SharedHandles = lazily(() =>
  z.strictObject({
    /** The newest ones. */
    known: z.array(z.strictObject(handleFields())),
    /** Number of the newest; its own count on from there. */
    newest: z.number().int().nonnegative(),
  }),
)
export type SharedHandles = DataOf<typeof SharedHandles>

/** On a handle, without store or folder: its content, of at most `maxRecordBytes` of the Host. */
export const HandleText = defineComponent('HandleText', () => z.strictObject({ text: z.string() }))

/** On an agent: the number of its newest handle. */
export const HandleCount = defineComponent('HandleCount', () => z.strictObject({ newest: z.number().int().positive() }))

/** On a handle, while its call is open: if that runs again, it gets the same handles in the same order. */
export const KeptBy = defineComponent('KeptBy', () => z.strictObject({ call: entity() }), { ref: 'call' })
