import { z } from 'zod'
import { channels, JudgedFields, PolicyConfig, PolicyMarks, reaches } from '../../src/protocol/policy.ts'
import { type DataOf, defineComponent, defineTag } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/values.ts'
import { lazily } from '../../src/base/lazily.ts'

/**
 * The calls of an agent that has it are judged before they run, and so are those of its sessions and subtasks. An agent
 * without it runs what its tools and `Permissions` allow.
 */
export const Policy = defineComponent('Policy', () =>
  z.strictObject({
    channel: z.enum(channels),
    /** The working folder of the chat session, absolute. */
    cwd: z.string().min(1),
    /** The home folder of the user, absolute. */
    home: z.string().min(1),
    /** Entia's own config folder, absolute. Paths in it count as credentials. */
    configFolder: z.string().min(1).optional(),
    /** Further files and folders of Entia's own with secrets or chats in them, absolute. They count as credentials. */
    ownPaths: z.array(z.string().min(1)).readonly().optional(),
    config: PolicyConfig().optional(),
  }),
)

/** Plan mode is on: the agent may read, and is denied what changes anything. Its children inherit it at their start. */
export const PlanMode = defineTag('PlanMode')

const Remembered = lazily(() =>
  z.strictObject({
    tool: z.string(),
    command: z.string().optional(),
    /** Where calls may reach that it covers. @default `['project']` */
    reach: z.array(z.enum(reaches)).readonly().optional(),
  }),
)
/** An approval that counts for later calls. */
export type Remembered = DataOf<typeof Remembered>

/** What a policy keeps of an agent over its calls. */
export const PolicyState = defineComponent('PolicyState', () =>
  z.strictObject({
    /** Calls that have got a number. */
    calls: z.number().int().nonnegative(),
    /** Never taken back. */
    ...PolicyMarks().shape,
    /** Approvals that count for later calls: of a tool, or of commands of it that begin so. */
    remembered: z.array(Remembered()).optional(),
  }),
)

/** On a tool call of an agent with a `Policy`: its number, and what was decided about it. */
export const Judgement = defineComponent('Judgement', () =>
  z.strictObject({
    ...JudgedFields(),
    /** From 1, in the order of an agent's calls. */
    number: z.number().int().positive(),
    /** Only a person's answer to this one call lets it run. */
    onlyAPerson: z.boolean(),
    /** Where its path arguments led on the disk, by their absolute paths; absent: it has none. */
    places: z.record(z.string(), z.array(z.string()).readonly()).optional(),
    requestedAtMs: z.number(),
    urls: z.array(z.string()).readonly(),
  }),
)

/** The call waits until the policy has judged it: for its own inspection, or for calls before it. */
export const AwaitingJudgement = defineTag('AwaitingJudgement')

/** An effect of kind `inspect`: gathers what a policy has to know of a call from the disk. Pure, and asked once. */
export const Inspection = defineComponent(
  'Inspection',
  () =>
    z.strictObject({
      call: entity(),
      /** Hash of the tool's declaration: facts about another one do not count. */
      declaration: z.number(),
    }),
  { ref: 'call', cascade: true },
)
