import { z } from 'zod'
import type { DeepReadonly } from '../src/world/component.ts'
import { lazily } from '../src/world/lazily.ts'
import { entity } from '../src/protocol/entity.ts'
import { HostFacts } from './agent/host-facts.ts'
import { UserMessage } from '../src/protocol/message.ts'
import { outcomeSchema } from './effects/outcome.ts'
import { sessionInputs } from './session-input.ts'
import { subtaskInputs } from './subtask-input.ts'
import { ToolChanges } from '../src/protocol/tool-changes.ts'

/** Under an id an input is taken once; the same id again is dropped. */
const id = lazily(() => z.string().min(1).optional())

const kinds = lazily(() => ({
  /** A Runner has taken the world up: what was running `once` before is interrupted. */
  started: z.strictObject({
    id: id(),
    kind: z.literal('started'),
    dateMs: z.number(),
    /** What makes the ids of this run differ from those of others. */
    run: z.string().min(1).optional(),
    /** What is to be known of the Host, if that is something new. */
    host: HostFacts.schema.optional(),
    /** What is different about the Host's tools, if anything is. */
    tools: ToolChanges().optional(),
    /** `keyed` tool calls that may have begun before, and run again. */
    reruns: z.array(entity()).readonly().optional(),
  }),
  /** A person speaks to an agent. */
  message: z.strictObject({ id: id(), kind: z.literal('message'), agent: entity(), message: UserMessage() }),
  /** Everything that the agent has under way is stopped, and its turn ends. */
  cancel: z.strictObject({ id: id(), kind: z.literal('cancel'), agent: entity(), reason: z.string().optional() }),
  /** A person answers an approval, by its id. */
  answer: z.strictObject({
    id: id(),
    kind: z.literal('answer'),
    approval: z.string(),
    approved: z.boolean(),
    reason: z.string().optional(),
  }),
  /** An effect ended. */
  outcome: z.strictObject({
    id: id(),
    kind: z.literal('outcome'),
    effect: entity(),
    attempt: z.number().int().min(1),
    outcome: outcomeSchema(),
  }),
  /** A `once` or `resumable` effect has a slot and is about to begin. */
  admitted: z.strictObject({
    id: id(),
    kind: z.literal('admitted'),
    effect: entity(),
    attempt: z.number().int().min(1),
  }),
  /** A person lets an agent go on that has reached its cost ceiling. `request` is what a refusal is found by. */
  'cost-ceiling-reset': z.strictObject({
    id: id(),
    kind: z.literal('cost-ceiling-reset'),
    agent: entity(),
    addSessionUsd: z.number().positive().optional(),
    request: z.string().min(1),
  }),
  /** A person lets an agent go on that the watchdog has stopped. */
  'watchdog-reset': z.strictObject({ id: id(), kind: z.literal('watchdog-reset'), agent: entity() }),
  /** A program has a conversation compacted; what comes of it is told under that `request`. */
  compact: z.strictObject({
    id: id(),
    kind: z.literal('compact'),
    agent: entity(),
    focus: z.string().min(1).optional(),
    /** Only if it is full enough. */
    ifNeeded: z.literal(true).optional(),
    request: z.string().min(1),
  }),
  /** A program says that a task is done; what comes of it is told under that `request`. */
  checkpoint: z.strictObject({
    id: id(),
    kind: z.literal('checkpoint'),
    agent: entity(),
    note: z.string().min(1).optional(),
    request: z.string().min(1),
  }),
  ...sessionInputs(),
  ...subtaskInputs(),
  /** A time that an effect was waiting for, or had until, has come. */
  due: z.strictObject({ id: id(), kind: z.literal('due'), effect: entity(), attempt: z.number().int().min(1) }),
}))

type Kinds = ReturnType<typeof kinds>

/** The inputs that the standard systems take, by kind. */
export type StandardInput = { [K in keyof Kinds]: DeepReadonly<z.infer<Kinds[K]>> }[keyof Kinds]
export type InputOf<K extends keyof Kinds> = DeepReadonly<z.infer<Kinds[K]>>

/** The kinds of standard inputs. */
export function inputKinds(): readonly string[] {
  return Object.keys(kinds())
}

/** The schema of a standard input; `undefined` for kinds of a program's own. */
export function inputSchema(kind: string): z.ZodType | undefined {
  const known = kinds()
  return Object.hasOwn(known, kind) ? known[kind as keyof Kinds] : undefined
}
