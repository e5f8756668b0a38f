import { z } from 'zod'
import { lazily } from '../src/world/lazily.ts'
import { entity } from '../src/protocol/entity.ts'
import { SubtaskSpending } from './sessions/subtask.ts'

const id = lazily(() => z.string().min(1).optional())
const filled = lazily(() => z.string().regex(/\S/, 'expected a text that is not empty'))

/** What enters a world about subtasks, by kind: what programs ask for, and what the Worlds of subtasks tell. */
export const subtaskInputs = lazily(() => ({
  /** A program has a subtask run for an agent; `subtask-ended` follows under its `request`. */
  subtask: z.strictObject({
    id: id(),
    kind: z.literal('subtask'),
    agent: entity(),
    maxSteps: z.number().int().positive(),
    /** `provider/model`. Absent: the agent's. */
    model: z.string().optional(),
    name: filled(),
    request: z.string().min(1),
    systemPrompt: filled(),
    timeoutMs: z.number().positive(),
    /** Names of tools of the agent. */
    tools: z.array(z.string()),
    userMessage: filled(),
  }),
  /** What a subtask has spent so far, all told; `isOver`: it was called off, and this is the last of it. */
  'subtask-spent': z.strictObject({
    id: id(),
    kind: z.literal('subtask-spent'),
    isOver: z.literal(true).optional(),
    /** Of a program that waits for it. */
    request: z.string().optional(),
    spent: SubtaskSpending(),
    subtaskId: z.string(),
  }),
}))
