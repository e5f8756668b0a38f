import { z } from 'zod'
import { Conversation } from '../../../components/agent/conversation.ts'
import type { SubtaskResult } from '../../protocol/delegation.ts'
import type { SummaryResult } from '../../protocol/context.ts'
import { parseModel } from '../../protocol/model-name.ts'
import { givenName as nameSchema } from '../../protocol/values.ts'
import { schemaIssues } from '../../rules/text/schema-issues.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { refuseUnknownOptions, shortly } from '../../base/known-options.ts'
import { lazily } from '../../base/lazily.ts'
import { givenName, isOneLine } from '../../base/option-shapes.ts'
import type { World } from '../../world/world.ts'
import type { Completions } from '../children/completions.ts'
import type { Host } from '../effects/host.ts'

/** Options of a compaction that a program asks for. */
export interface CompactOptions {
  readonly focus?: string | undefined
}

/** Options of a checkpoint that a program asks for. */
export interface CheckpointOptions {
  readonly note?: string | undefined
}

/** How an agent that a ceiling has stopped goes on. */
export interface CostCeilingReset {
  /** By how much the ceiling of the agent's life is raised, in US dollars; above 0. @default not at all */
  readonly addSessionUsd?: number | undefined
}

/** Options of a subtask that a program starts. */
export interface SubtaskOptions {
  /** Stands in the subtask's id. */
  readonly name: string
  /** Literal: no placeholders are filled in. */
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

/** What holds for subtasks where nothing else is said. */
export const subtaskDefaults = { maxSteps: 5, timeoutMs: 60_000 } as const

const trimmed = lazily(() => z.string().trim().optional())
const compactSchema = lazily(() => z.strictObject({ focus: trimmed() }))
const checkpointSchema = lazily(() => z.strictObject({ note: trimmed() }))

const filled = lazily(() => z.string().regex(/\S/, 'expected a text that is not empty'))
const subtaskSchema = lazily(() =>
  z.strictObject({
    maxSteps: z.number().int().min(1).default(subtaskDefaults.maxSteps),
    model: nameSchema().optional(),
    name: filled().refine(isOneLine, 'expected one line, without line breaks'),
    systemPrompt: filled(),
    timeoutMs: z.number().positive().default(subtaskDefaults.timeoutMs),
    tools: z.array(z.string()),
    userMessage: filled(),
  }),
)

function checked<T extends z.ZodType>(call: string, schema: () => T, options: unknown): z.infer<T> {
  const { data, error } = schema().safeParse(options)
  if (error !== undefined) throw new EntiaError('invalid-argument', `${call}: ${schemaIssues(error)}.`)
  return data
}

export async function compact(
  agent: Entity,
  options: CompactOptions,
  completions: Completions,
  ifNeeded = false,
): Promise<SummaryResult> {
  // An empty text counts as left out.
  const focus = checked('compact', compactSchema, options).focus || undefined
  const more = { ...(focus !== undefined && { focus }), ...(ifNeeded && { ifNeeded }) }
  return completions.summary((request) => ({ kind: 'compact', agent, request, ...more }))
}

export async function checkpoint(
  agent: Entity,
  options: CheckpointOptions,
  completions: Completions,
): Promise<SummaryResult> {
  const note = checked('checkpoint', checkpointSchema, options).note || undefined
  return completions.summary((request) => ({ kind: 'checkpoint', agent, request, ...(note !== undefined && { note }) }))
}

export async function resetCostCeiling(
  agent: Entity,
  options: CostCeilingReset,
  completions: Completions,
): Promise<void> {
  refuseUnknownOptions('resetCostCeiling', options, ['addSessionUsd'])
  const { addSessionUsd } = options
  if (addSessionUsd !== undefined && !(Number.isFinite(addSessionUsd) && addSessionUsd > 0)) {
    const what = `addSessionUsd must be a number of US dollars above 0, got ${shortly(addSessionUsd)}.`
    throw new EntiaError('invalid-argument', `resetCostCeiling: ${what}`)
  }
  const more = addSessionUsd === undefined ? {} : { addSessionUsd }
  await completions.once((request) => ({ kind: 'cost-ceiling-reset', agent, request, ...more }), { agent })
}

export async function runSubtask(
  agent: Entity,
  options: SubtaskOptions,
  completions: Completions,
  host: Host,
): Promise<SubtaskResult> {
  const { model, ...rest } = checked('runSubtask', subtaskSchema, options)
  if (model !== undefined) host.provider(parseModel(model).provider)
  const more = model === undefined ? rest : { ...rest, model }
  return completions.subtask((request) => ({ kind: 'subtask', agent, request, ...more }))
}

/** Options of a session that a program launches. */
export interface LaunchOptions {
  /** The name of a subagent. Absent: the registry's default, or else a fork. */
  readonly category?: string | undefined
  readonly prompt: string
  /** Further skills to install. @default none */
  readonly loadSkills?: readonly string[] | undefined
  /** Longest run, from admission. @default that of the standard systems */
  readonly timeoutMs?: number | undefined
  /** Whether the agent is notified of the end. @default true */
  readonly notify?: boolean | undefined
}

export function checkedLaunch(options: LaunchOptions) {
  refuseUnknownOptions('subagents', options, ['category', 'prompt', 'loadSkills', 'timeoutMs', 'notify'])
  const { category, prompt, loadSkills = [], timeoutMs, notify = true } = options
  checkedPrompt(prompt)
  if (category !== undefined && !isFilled(category)) throw refusal('category: expected a text that is not empty')
  if (!Array.isArray(loadSkills) || !loadSkills.every(isFilled)) throw refusal('loadSkills: expected a list of names')
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw refusal(`timeoutMs: expected a number above 0, got ${shortly(timeoutMs)}`)
  }
  return {
    ...(category !== undefined && { category }),
    prompt,
    ...(loadSkills.length > 0 && { loadSkills: [...loadSkills] as string[] }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(!notify && { notify: false as const }),
  }
}

/** Options of a worker that a program launches. */
export interface WorkerOptions {
  readonly prompt: string
  /** Names of tools of the agent. */
  readonly tools: readonly string[]
  /** `provider/model`. @default the agent's */
  readonly model?: string | undefined
  /** `parent`: who approves the agent's calls is asked about the worker's. @default calls that need it are declined */
  readonly approvals?: 'parent' | undefined
  /** What it may cost at most, in US dollars. @default what the agent may still spend on sessions */
  readonly costUsd?: number | undefined
  /** Longest run, from admission. @default that of the standard systems */
  readonly timeoutMs?: number | undefined
}

export function checkedWorker(options: WorkerOptions) {
  refuseUnknownOptions('subagents.spawnWorker', options, [
    'prompt',
    'tools',
    'model',
    'approvals',
    'costUsd',
    'timeoutMs',
  ])
  const { approvals, costUsd, model, prompt, timeoutMs, tools } = options
  if (!Array.isArray(tools) || !tools.every(isFilled)) throw refusal('tools: expected a list of names')
  if (model !== undefined && !givenName.fits(model))
    throw refusal(`model: expected provider/model on one line, got ${shortly(model)}`)
  if (approvals !== undefined && approvals !== 'parent') {
    throw refusal(`approvals: expected 'parent' or nothing, got ${shortly(approvals)}`)
  }
  if (costUsd !== undefined && !(Number.isFinite(costUsd) && costUsd > 0)) {
    throw refusal(`costUsd: expected US dollars above 0, got ${shortly(costUsd)}`)
  }
  const limits = costUsd === undefined ? {} : { limits: { costUsd } }
  const worker = {
    tools: [...tools] as string[],
    ...limits,
    ...(model && { model }),
    ...(approvals && { approvals }),
  }
  return { ...checkedLaunch({ prompt, timeoutMs, notify: false }), worker }
}

export function checkedPrompt(prompt: unknown): void {
  if (!isFilled(prompt)) throw refusal('prompt: expected a text that is not empty')
}

function isFilled(text: unknown): boolean {
  return typeof text === 'string' && text.trim() !== ''
}

function refusal(what: string): EntiaError {
  return new EntiaError('invalid-argument', `subagents: ${what}.`)
}

export function assertAgent(world: World, agent: Entity): void {
  if (world.has(agent, Conversation)) return
  const what = `Entity ${shortly(agent)} of world '${world.name}' is no agent`
  throw new EntiaError('unknown-entity', `${what}: it was despawned, or has no Conversation.`, { entity: agent })
}
