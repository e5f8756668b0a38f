import { z } from 'zod'
import type { DeepReadonly } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'
import { DelegationLimitsData } from './delegation.ts'
import { outcomeSchema } from './failure.ts'
import { HostFactsData, ToolChanges } from './host.ts'
import { UserMessage } from './message.ts'
import { SessionUsage, SubtaskSpending } from './usage.ts'
import { entity, JsonSchema } from './values.ts'

const attempt = lazily(() => z.number().int().min(1))
const filled = lazily(() => z.string().regex(/\S/, 'expected a text that is not empty'))
const text = lazily(() => z.string().min(1))

/** Inputs about sessions and subtasks: from programs, and from the Worlds above and below. */
const delegationFields = lazily(() => ({
  /** A program gives a task to a subagent of an agent; `session-queued` follows under its `correlationId`, or nothing. */
  delegate: {
    agent: entity(),
    category: z.string().optional(),
    correlationId: text(),
    fork: z.literal(true).optional(),
    loadSkills: z.array(z.string()).optional(),
    notify: z.literal(false).optional(),
    prompt: z.string(),
    /** The full id of the session to resume; its other settings stay as they were. */
    resume: z.string().optional(),
    timeoutMs: z.number().positive().optional(),
  },
  /** A program ends a session, by its full id; closed, it takes no query any more. */
  'session-cancel': { agent: entity(), close: z.literal(true).optional(), session: z.string() },
  /** A program asks a session that has succeeded a further question. */
  query: { agent: entity(), prompt: text(), query: text(), session: z.string() },
  /** A program has taken a session's result, or the reply to a query of it. */
  collected: { agent: entity(), query: z.string().optional(), session: z.string() },
  /** To the world of a session: what its agent may spend; on a question to it, besides what it has used by now. */
  granted: { limits: DelegationLimitsData(), question: z.string().optional() },
  /** To the world of a session that was cancelled or timed out: its own sessions end. */
  'session-stopped': { reason: z.string() },
  /** What a stopped session has spent, or a session on a question that was dropped. */
  'session-spent': {
    /** Of a question. */
    asker: entity().optional(),
    session: entity(),
    usage: SessionUsage(),
  },
  /** A program has a subtask run for an agent; `subtask-ended` follows under its `request`. */
  subtask: {
    agent: entity(),
    maxSteps: z.number().int().positive(),
    /** `provider/model`. Absent: the agent's. */
    model: z.string().optional(),
    name: filled(),
    request: text(),
    systemPrompt: filled(),
    timeoutMs: z.number().positive(),
    /** Names of tools of the agent. */
    tools: z.array(z.string()),
    userMessage: filled(),
  },
  /** What a subtask has spent so far in total; `isOver`: it was cancelled, and this is the last report. */
  'subtask-spent': {
    isOver: z.literal(true).optional(),
    /** Of a program that waits for it. */
    request: z.string().optional(),
    spent: SubtaskSpending(),
    subtaskId: z.string(),
  },
}))

/** The fields of each kind of input, besides `kind` and `id`. */
const fields = lazily(() => ({
  /** A Runner has opened the world: `once` effects that were running are interrupted. */
  started: {
    dateMs: z.number(),
    /** What makes the ids of this run differ from those of others. */
    run: text().optional(),
    /** What has changed about the Host. Absent: nothing. */
    host: HostFactsData().optional(),
    /** What has changed about the Host's tools. Absent: nothing. */
    tools: ToolChanges().optional(),
    /** `keyed` tool calls that may have begun before, and run again. */
    reruns: z.array(entity()).readonly().optional(),
  },
  /** A person speaks to an agent. */
  message: { agent: entity(), message: UserMessage(), output: JsonSchema().optional() },
  /** Everything that the agent has under way is stopped, and its turn ends. */
  cancel: { agent: entity(), reason: z.string().optional() },
  /** A person answers an approval, by its id. */
  answer: { approval: z.string(), approved: z.boolean(), reason: z.string().optional() },
  /** An effect ended. */
  outcome: { effect: entity(), attempt: attempt(), outcome: outcomeSchema() },
  /** A `once` or `resumable` effect has a slot and is about to begin. */
  admitted: { effect: entity(), attempt: attempt() },
  /** A person lets an agent go on that has reached its cost ceiling. A refusal carries the `request`. */
  'cost-ceiling-reset': { agent: entity(), addSessionUsd: z.number().positive().optional(), request: text() },
  /** A person lets an agent go on that the watchdog has stopped. */
  'watchdog-reset': { agent: entity() },
  /** A program has a conversation compacted; `summary-answered` follows under its `request`. */
  compact: {
    agent: entity(),
    focus: text().optional(),
    /** Only if it is full enough. */
    ifNeeded: z.literal(true).optional(),
    request: text(),
  },
  /** A program says that a task is done; `summary-answered` follows under its `request`. */
  checkpoint: { agent: entity(), note: text().optional(), request: text() },
  ...delegationFields(),
  /** A time that an effect was waiting for, or had until, has come. */
  due: { effect: entity(), attempt: attempt() },
}))

type Fields = ReturnType<typeof fields>
type Kind = keyof Fields

export type InputOf<K extends Kind> = DeepReadonly<
  { id?: string | undefined; kind: K } & z.infer<z.ZodObject<Fields[K]>>
>

/** The inputs that the standard systems take, by kind. */
export type StandardInput = { [K in Kind]: InputOf<K> }[Kind]

const schemas = lazily((): ReadonlyMap<string, z.ZodType> => {
  const id = text().optional()
  const kinds = Object.entries(fields())
  return new Map(kinds.map(([kind, more]) => [kind, z.strictObject({ id, kind: z.literal(kind), ...more })]))
})

/** The kinds of standard inputs. */
export function inputKinds(): readonly string[] {
  return [...schemas().keys()]
}

/** The schema of a standard input; `undefined` for kinds of a program's own. */
export function inputSchema(kind: string): z.ZodType | undefined {
  return schemas().get(kind)
}
