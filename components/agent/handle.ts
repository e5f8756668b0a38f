import { z } from 'zod'
import { defineComponent, defineTag } from '../../src/world/component.ts'
import { entity, valueKinds } from '../../src/protocol/values.ts'

/** The agent keeps long results of its tools under handles, and its sessions do. */
export const Workspace = defineTag('Workspace')

/** A value of a tool call that was kept for an agent, as `.h_001` and so on. Its content is in the records. */
export const Handle = defineComponent(
  'Handle',
  () =>
    z.strictObject({
      agent: entity(),
      /** Only the process of `run_js` has the value. */
      isLive: z.literal(true).optional(),
      /** It was live, and that process has ended. */
      isLost: z.literal(true).optional(),
      /** Absent: live. */
      kind: z.enum(valueKinds).optional(),
      /** 1, 2, 3 … per agent, never used again. */
      number: z.number().int().positive(),
      /** Path in the records. A text is kept as it is, all else as JSON. Absent: live. */
      recordPath: z.string().optional(),
      shape: z.string(),
      /** Of the content; absent: live. */
      sizeBytes: z.number().int().nonnegative().optional(),
    }),
  { ref: 'agent', cascade: true },
)

/** On a handle, without store or folder: its content, of at most `maxRecordBytes` of the Host. */
export const HandleText = defineComponent('HandleText', () => z.strictObject({ text: z.string() }))

/** On an agent: the number of its newest handle. */
export const HandleCount = defineComponent('HandleCount', () => z.strictObject({ newest: z.number().int().positive() }))

/** On a tool call: the handles it was given, in order. Running it again gives it the same. */
export const KeptHandles = defineComponent('KeptHandles', () => z.strictObject({ handles: z.array(entity()) }))
