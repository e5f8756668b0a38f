import { z } from 'zod'
import type { StandardInput } from '../../../components/input.ts'
import type { SubtaskResult } from '../../../components/subtask.ts'
import { parseModel } from '../../models/model-name.ts'
import { takeRefused } from '../../subagents/refused-requests.ts'
import { schemaIssues } from '../../tools/schema-issues.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { lazily } from '../../world/lazily.ts'
import type { World } from '../../world/world.ts'
import type { Host } from '../host.ts'
import type { Completions } from './completions.ts'

/** What a program asks of a subtask. */
export interface SubtaskOptions {
  /** Stands in the subtask's id. */
  readonly name: string
  /** Literal: nothing is filled in. */
  readonly systemPrompt: string
  readonly userMessage: string
  /** Names of tools of the agent. */
  readonly tools: readonly string[]
  /** `provider/model`. @default the agent's */
  readonly model?: string | undefined
  /** Most calls of the model. @default 5 */
  readonly maxSteps?: number | undefined
  /** Longest run, in milliseconds of world time. @default 60000 */
  readonly timeoutMs?: number | undefined
}

/** Bounds of a subtask of which nothing is said. */
export const subtaskDefaults = { maxSteps: 5, timeoutMs: 60_000 } as const

const filled = lazily(() => z.string().regex(/\S/, 'expected a text that is not empty'))
const schema = lazily(() =>
  z.strictObject({
    maxSteps: z.number().int().min(1).default(subtaskDefaults.maxSteps),
    model: z.string().optional(),
    name: filled(),
    systemPrompt: filled(),
    timeoutMs: z.number().positive().default(subtaskDefaults.timeoutMs),
    tools: z.array(z.string()),
    userMessage: filled(),
  }),
)

/** What a subtask is asked of. */
export interface SubtaskParts {
  readonly host: Host
  readonly completions: Completions
  readonly world: World
  /** Resolves once the input is committed. */
  readonly post: (input: StandardInput) => Promise<void>
}

/** Has a subtask run, and waits for what it comes to. @throws `invalid-argument`, `unknown-provider` */
export async function runSubtask(
  agent: Entity,
  options: SubtaskOptions,
  { completions, host, world, post }: SubtaskParts,
): Promise<SubtaskResult> {
  const { data: asked, error } = schema().safeParse(options)
  if (asked === undefined) throw new EntiaError('invalid-argument', `runSubtask: ${schemaIssues(error)}.`)
  const { model, ...rest } = asked
  if (model !== undefined) host.provider(parseModel(model).provider)
  const request = completions.requestId(world.tick)
  const ended = completions.subtaskEnded(request)
  await post({ kind: 'subtask', agent, request, ...rest, ...(model !== undefined && { model }) })
  const refused = takeRefused(world, request)
  if (refused === undefined) return ended
  completions.forget(request)
  throw new EntiaError(refused.code, refused.reason)
}
