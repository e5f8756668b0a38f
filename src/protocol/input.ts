import { z } from 'zod'
import type { DeepReadonly } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'
import { isOneLine } from '../base/option-shapes.ts'
import { DelegationLimitsData, GrantLimits } from './delegation.ts'
import { HandleEntry } from './handle.ts'
import { outcomeSchema } from './failure.ts'
import { HostFactsData, ToolChanges } from './host.ts'
import { UserMessage } from './message.ts'
import { PolicyMarks, remembering } from './policy.ts'
import { SessionUsage, SubtaskSpending } from './usage.ts'
import { entity, JsonSchema, givenName } from './values.ts'

const attempt = lazily(() => z.number().int().min(1))
const filled = lazily(() => z.string().regex(/\S/, 'expected a text that is not empty'))
const text = lazily(() => z.string().min(1))

const delegationFields = lazily(() => ({
  /** A program delegates a task; `session-queued` follows under its `correlationId`, if it is accepted. */
  delegate: {
    agent: entity(),
    category: z.string().optional(),
    correlationId: text(),
    fork: z.literal(true).optional(),
    loadSkills: z.array(z.string()).optional(),
    notify: z.literal(false).optional(),
    prompt: z.string(),
    /** Full id of the session to resume, with its other settings. */
    resume: z.string().optional(),
    timeoutMs: z.number().positive().optional(),
    /** Instead of a category: a worker with these tools of its parent, and no others. */
    worker: z
      .strictObject({
        /** The parent's approvals are asked; absent: they are declined. */
        approvals: z.literal('parent').optional(),
        /** Of this worker. */
        limits: GrantLimits().optional(),
        model: givenName().optional(),
        tools: z.array(z.string()),
      })
      .optional(),
  },
  /** A program ends a session, by its full id; a closed one takes no more queries. */
  'session-cancel': { agent: entity(), close: z.literal(true).optional(), session: z.string() },
  /** A program queries a session that succeeded. */
  query: {
    agent: entity(),
    prompt: text(),
    query: text(),
    /** A name or handle of the session whose value is kept for the agent when it has answered. */
    returnName: text().optional(),
    session: z.string(),
  },
  /** A program took a session's result, or a query's reply. */
  collected: { agent: entity(), query: z.string().optional(), session: z.string() },
  /** To a session's world: its budget; for a query, on top of what it has used. */
  granted: {
    limits: DelegationLimitsData(),
    question: z.string().optional(),
    /** For a query, what the asker's policy hands down by now. */
    isPlanMode: z.boolean().optional(),
    marks: PolicyMarks().optional(),
  },
  /** To the world of a cancelled or timed-out session: its own sessions end. */
  'session-stopped': { reason: z.string() },
  /** Spending of a stopped session, or of a dropped query. */
  'session-spent': {
    asker: entity().optional(),
    /** The session may spend more: this does not end what it was granted. */
    isUnderWay: z.literal(true).optional(),
    session: entity(),
    usage: SessionUsage(),
  },
  /** A program runs a subtask for an agent; `subtask-ended` follows under its `request`. */
  subtask: {
    agent: entity(),
    maxSteps: z.number().int().positive(),
    /** `provider/model`. @default the agent's */
    model: givenName().optional(),
    name: filled().refine(isOneLine, 'expected one line, without line breaks'),
    request: text(),
    systemPrompt: filled(),
    timeoutMs: z.number().positive(),
    /** Tools of the agent. */
    tools: z.array(z.string()),
    userMessage: filled(),
  },
  /** Total spending so far; `isOver`: cancelled, and this is the last report. */
  'subtask-spent': {
    isOver: z.literal(true).optional(),
    /** Id under which a program waits. */
    request: z.string().optional(),
    spent: SubtaskSpending(),
    subtaskId: z.string(),
  },
}))

/** Besides `kind` and `id`. */
const fields = lazily(() => ({
  /** A Runner opened the world: running `once` effects are interrupted. */
  started: {
    dateMs: z.number(),
    /** Makes ids of this run unique. */
    run: text().optional(),
    /** Changes of the Host. Absent: none. */
    host: HostFactsData().optional(),
    /** Changes of its tools. Absent: none. */
    tools: ToolChanges().optional(),
    /** `keyed` tool calls that run again and may have begun before. */
    reruns: z.array(entity()).readonly().optional(),
  },
  message: { agent: entity(), message: UserMessage(), output: JsonSchema().optional() },
  /** Stops all work of the agent and ends its turn. */
  cancel: {
    agent: entity(),
    reason: z.string().optional(),
    /** Stops only the step under way: the turn stays open for the next message. */
    step: z.literal(true).optional(),
  },
  /** Takes back the newest of a user's messages, with all behind the first of them. */
  rewind: {
    agent: entity(),
    /** How many of the user's messages. */
    messages: z.number().int().positive(),
    /** `seq` of the first of them, as the user saw it; another one refuses the input. */
    fromSeq: z.number().int().positive().optional(),
  },
  /** Answers an approval, by its id. */
  answer: {
    approval: z.string(),
    approved: z.boolean(),
    reason: z.string().optional(),
    /** Of an agent with a `Policy`: counts for later calls too, of the tool or of commands that begin alike. */
    remember: z.enum(remembering).optional(),
    /** With a no: the turn ends. */
    stopTurn: z.literal(true).optional(),
  },
  outcome: { effect: entity(), attempt: attempt(), outcome: outcomeSchema() },
  /** A `once` or `resumable` effect has a slot and is about to begin. */
  admitted: { effect: entity(), attempt: attempt() },
  /** The work of an effect has kept a value for its agent, as its `ordinal`th. */
  'handle-kept': {
    attempt: attempt(),
    effect: entity(),
    entry: HandleEntry(),
    ordinal: z.number().int().nonnegative(),
    /** The content, where the world has to keep it. */
    text: z.string().optional(),
  },
  /** Lets an agent continue past its cost ceiling. A refusal carries the `request`. */
  'cost-ceiling-reset': { agent: entity(), addSessionUsd: z.number().positive().optional(), request: text() },
  /** Lets an agent continue that the watchdog stopped. */
  'watchdog-reset': { agent: entity() },
  /** Compacts a conversation; `summary-answered` follows under its `request`. */
  compact: {
    agent: entity(),
    focus: text().optional(),
    /** Only above the threshold. */
    ifNeeded: z.literal(true).optional(),
    request: text(),
  },
  /** Marks a task as done; `summary-answered` follows under its `request`. */
  checkpoint: { agent: entity(), note: text().optional(), request: text() },
  ...delegationFields(),
  /** A retry time or deadline of an effect. */
  due: { effect: entity(), attempt: attempt() },
}))

type Fields = ReturnType<typeof fields>
type Kind = keyof Fields

export type InputOf<K extends Kind> = DeepReadonly<
  { id?: string | undefined; kind: K } & z.infer<z.ZodObject<Fields[K]>>
>

/** An input of the standard systems. */
export type StandardInput = { [K in Kind]: InputOf<K> }[Kind]

const schemas = lazily((): ReadonlyMap<string, z.ZodType> => {
  const id = text().optional()
  const kinds = Object.entries(fields())
  return new Map(kinds.map(([kind, more]) => [kind, z.strictObject({ id, kind: z.literal(kind), ...more })]))
})

export function inputKinds(): readonly string[] {
  return [...schemas().keys()]
}

/** `undefined` for a program's own kinds. */
export function inputSchema(kind: string): z.ZodType | undefined {
  return schemas().get(kind)
}
