import { z } from 'zod'
import { FileFact } from '../../src/protocol/file-fact.ts'
import { valueKinds } from '../../src/protocol/handle.ts'
import { entity } from '../../src/protocol/values.ts'
import { type DataOf, defineComponent } from '../../src/world/component.ts'

/**
 * The agent keeps a `WorkspaceEntry` of each call of a tool that succeeds. Each of its turns begins with those that fit the
 * message and that its model does not see any more.
 */
export const Retrieval = defineComponent('Retrieval', () =>
  z.strictObject({
    /** Characters of entries that a turn begins with. @default 8,000 */
    maxChars: z.number().int().min(0).max(32_000).optional(),
  }),
)

export const defaultRetrievedChars = 8_000

/** On an agent with entries. */
export const WorkspaceState = defineComponent('WorkspaceState', () =>
  z.strictObject({
    /** Number of the newest entry; never used again. */
    newest: z.number().int().nonnegative(),
    /** Number of the newest entry that has been compared with those before it. */
    compared: z.number().int().nonnegative(),
    /** Entries have become stale since the last turn began. */
    hasNewlyStale: z.literal(true).optional(),
    /** Turns that have begun. */
    turns: z.number().int().nonnegative(),
  }),
)

export const entryTypes = [...valueKinds, 'function'] as const
export type EntryType = (typeof entryTypes)[number]

/** What a call of a tool has come to, and where that is from. */
export const WorkspaceEntry = defineComponent(
  'WorkspaceEntry',
  () =>
    z.strictObject({
      agent: entity(),
      /** From 1, in the order of the results. */
      number: z.number().int().positive(),
      /** What it is a result for, such as `file:src/a.ts`: a later call with this key and the same arguments replaces it. */
      key: z.string(),
      /** The tool and its arguments, cut. */
      origin: z.string(),
      /** A hash of the arguments. */
      asked: z.number(),
      type: z.enum(entryTypes),
      /** Numbers of handles that have its values. */
      handles: z.array(z.number().int().positive()).readonly().optional(),
      /** Numbers of handles that the call named. */
      deps: z.array(z.number().int().positive()).readonly().optional(),
      /** Files that the result is from. */
      files: z.array(FileFact()).readonly().optional(),
      /** Files that the call changed. */
      changed: z.array(FileFact()).readonly().optional(),
      sizeBytes: z.number().int().nonnegative(),
      /** What a turn may begin with, cut. Absent: it is too long to be retrieved. */
      text: z.string().optional(),
      /** `seq` of its result in the conversation. */
      seq: z.number().int().positive(),
      /** `seq` of the newest message that a turn began with and that shows it. */
      shownSeq: z.number().int().positive().optional(),
      turn: z.number().int().nonnegative(),
      /** World time. */
      atMs: z.number(),
      /** It may not be true any more. */
      isStale: z.literal(true).optional(),
      /** Someone has asked to keep it. */
      isPinned: z.literal(true).optional(),
    }),
  { ref: 'agent', cascade: true },
)
export type WorkspaceEntryData = DataOf<() => typeof WorkspaceEntry.schema>
