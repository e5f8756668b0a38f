import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'

/** Where a chat session talks to people. */
export const channels = ['cli', 'console', 'matrix', 'mcp'] as const
/** Where a chat session is held. */
export type Channel = (typeof channels)[number]

/** What a call does to the outside. What its tool does not declare is unknown. */
export const operations = ['read', 'write', 'exec', 'unknown'] as const
/** What a call does to the outside. */
export type Operation = (typeof operations)[number]

export const approvals = ['allow', 'ask', 'deny'] as const
export type Approval = (typeof approvals)[number]

/** What data a call touches, strictest first. */
export const dataClasses = ['credential', 'personal', 'other', 'code', 'public'] as const
/** What data a call touches, strictest first. */
export type DataClass = (typeof dataClasses)[number]

/** How paths are compared: names ignore case on macOS and Windows, and Windows has `\` as well. */
export const pathStyles = ['posix', 'darwin', 'win32'] as const
export type PathStyle = (typeof pathStyles)[number]

/**
 * Where what a call touches lies: in the working folder, in other folders of code, among temporary files, elsewhere. An answer that
 * is remembered counts for calls that reach no further than the call that it was given for.
 */
export const reaches = ['project', 'code', 'temporary', 'other'] as const
export type Reach = (typeof reaches)[number]

const paths = () => z.array(z.string()).readonly().optional()
const approval = () => z.enum(approvals)

/** Calls of a tool that a configuration lets run without a question: as many as an answer that is remembered would. */
export const AllowedCalls = lazily(() =>
  z.strictObject({
    /** The words of a shell command, which plain operands may follow. Absent: any call of the tool. */
    command: z.string().optional(),
    /** Where they may reach. @default `['project']` */
    places: z.array(z.enum(reaches)).readonly().optional(),
    /** The working folder of the chat sessions that it counts for, absolute or with `~`. @default all */
    folder: z.string().optional(),
  }),
)
export type AllowedCalls = DataOf<typeof AllowedCalls>

const ToolPermission = lazily(() =>
  z.union([
    approval(),
    z.strictObject({
      allow: z.array(AllowedCalls()).readonly(),
      /** What all other calls get at least. @default as for a tool without an entry */
      otherwise: z.literal('ask').optional(),
    }),
  ]),
)
/** What a configuration says of one tool. */
export type ToolPermission = DataOf<typeof ToolPermission>

/** What it says of all calls of the tool; `undefined`: nothing. */
export function approvalOf(permission: ToolPermission): Approval | undefined {
  return typeof permission === 'object' ? permission.otherwise : permission
}

/** Does it let calls of the tool run that would be asked about? */
export function allowsSome(permission: ToolPermission | undefined): boolean {
  return permission === 'allow' || typeof permission === 'object'
}

/** The keys of a config that a policy reads. */
export const PolicyConfig = lazily(() =>
  z.strictObject({
    /** @default the tools of `policyDefaults` */
    dangerousTools: paths(),
    /** What dangerous tools get at least. @default 'ask' */
    approvalMode: approval().optional(),
    /** By the names of tools. */
    permissions: z.record(z.string(), ToolPermission()).readonly().optional(),
    allowedPaths: paths(),
    deniedPaths: paths(),
    /** @default `~/Documents` and `~/Downloads` */
    personalPaths: paths(),
    /** Besides the working folder. @default `~/projects` and `~/src` */
    codePaths: paths(),
    /** @default 'advisory' */
    routing: z.enum(['advisory', 'enforce']).optional(),
    /** The model that personal data goes to, `provider/model`. A name alone is one of Ollama's. */
    localModel: z.string().optional(),
  }),
)
export type PolicyConfig = DataOf<typeof PolicyConfig>

/** What a policy says of one call. */
export const Decision = lazily(() =>
  z.strictObject({ model: z.enum(['cloud', 'local']), approval: approval(), reason: z.string() }),
)
export type Decision = DataOf<typeof Decision>

/** What the calls of a chat session have touched. */
export const PolicyMarks = lazily(() =>
  z.strictObject({
    /** Personal or credential data, even by a denied call: every later call counts as personal at least. */
    sticky: z.literal(true).optional(),
    /** Data of class `other`, by a read: tools that reach out ask. */
    hasReadOther: z.literal(true).optional(),
  }),
)
export type PolicyMarks = DataOf<typeof PolicyMarks>

/** What an approval may be remembered for: later calls of the tool, or those whose command begins alike. */
export const remembering = ['session', 'command'] as const

/** What a person is shown of a call that a policy asks about. */
export const JudgedFields = lazily(() => ({
  decision: Decision(),
  dataClass: z.enum(dataClasses),
  operation: z.enum(operations),
  /** Path arguments, as given. */
  paths: z.array(z.string()).readonly(),
  /** An answer may be remembered. */
  mayRemember: z.boolean(),
  /** The command that `remember: 'command'` covers, with plain operands behind it. Absent: it covers none. */
  commandStart: z.string().optional(),
  /** Where what it touches lies. */
  reach: z.array(z.enum(reaches)).readonly().optional(),
  /** Where all lies that the words of its command name. */
  commandReach: z.array(z.enum(reaches)).readonly().optional(),
  /** Where path arguments lead that are links, or lie behind one: absolute, by the paths as given. */
  leadsTo: z.record(z.string(), z.string()).optional(),
}))

const Judged = lazily(() => z.object(JudgedFields()).partial())

/** What a person is shown of a call, where a policy has judged it. */
export type Judged = DataOf<typeof Judged>

/** Those fields alone, without the optional ones that are absent. */
export function judgedFieldsOf<Fields extends Judged>(judged: Fields): Pick<Fields, keyof Judged> {
  const { commandReach, commandStart, dataClass, decision, leadsTo, mayRemember, operation, reach } = judged
  return {
    dataClass,
    decision,
    mayRemember,
    operation,
    paths: judged.paths,
    ...(commandStart !== undefined && { commandStart }),
    ...(reach !== undefined && { reach }),
    ...(commandReach !== undefined && { commandReach }),
    ...(leadsTo !== undefined && { leadsTo }),
  }
}
