import type { SubagentRegistryData } from '../../../components/sessions/subagent-registry.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { oncePerObject, oncePerValue } from '../once-per.ts'
import { byCodePoint } from '../../base/by-code-point.ts'
import { canonical } from '../../world/canonical.ts'
import type { DeepReadonly } from '../../world/component.ts'
import type { JsonObject } from '../../base/json.ts'
import { lazily } from '../../base/lazily.ts'

type Registry = DeepReadonly<SubagentRegistryData>

const minimalTools = ['read_file', 'grep_files']
const investigatingTools = [...minimalTools, 'js_help', 'web_search', 'fetch_url']
const workingTools = [
  ...investigatingTools,
  'bash',
  'cmd',
  'write_file',
  'replace_in_file',
  'list_files',
  'git_status',
  'git_diff',
  'git_log',
  'run_js',
]

/** Tools by purpose. An agent grants those that it has. */
export const toolPresets = { minimal: minimalTools, investigate: investigatingTools, work: workingTools } as const

/** A name of tools by purpose. */
export type ToolPreset = keyof typeof toolPresets

/** Names of the tools of an agent with a `SubagentRegistry`, in order. */
export const subagentToolNames = [
  'subagent',
  'subagent_status',
  'subagent_result',
  'subagent_cancel',
  'subagent_wait',
  'subagent_resume',
] as const

const sessionId = { type: 'string', description: 'A session id, a unique prefix of one, or a sequence number.' }
const timeout = { type: 'number', description: 'Seconds.' }

/** Asks a succeeded session a further question. Not among the six: put it into an agent's `ToolRegistry`. */
export const querySubagentDeclaration: ToolDeclaration = worldDeclaration(
  'query_subagent',
  'Asks a subagent whose session has succeeded a further question. It still knows all that it did.',
  { id: sessionId, prompt: { type: 'string', description: 'The question.' } },
  ['id', 'prompt'],
)

/** Launches a worker with tools of the caller's choosing. Not among the six: put it into an agent's `ToolRegistry`. */
export const spawnSubagentDeclaration: ToolDeclaration = worldDeclaration(
  'spawn_subagent',
  'Gives a task to a new worker in the background. Grant at once the tools that it needs: none can be granted later, and ' +
    'what needs an approval is denied.',
  {
    task: { type: 'string', description: 'With all that the worker has to know.' },
    tools: {
      type: 'array',
      items: { type: 'string' },
      description: 'Names of your tools. Default: those of the preset, or none.',
    },
    preset: {
      type: 'string',
      enum: Object.keys(toolPresets),
      description: 'Your tools for such work, unless tools names them.',
    },
  },
  ['task'],
)

/**
 * The tools by which a model has workers without a `SubagentRegistry`: launches, asks, collects, lists and ends them.
 * @param preset what a worker gets for which neither tools nor a preset are named
 */
export const workerDeclarations = oncePerValue((preset: ToolPreset): readonly ToolDeclaration[] => [
  withDefaultPreset(spawnSubagentDeclaration, preset),
  withReturnName(querySubagentDeclaration),
  worldDeclaration(
    'collect_subagent',
    'Gives what a subagent has found, and waits for it if it is still at work.',
    {
      id: sessionId,
      timeout: { ...timeout, description: 'Most seconds to wait; 0: not at all. Default: no limit.' },
      offset: { type: 'integer', description: 'Byte of a long result from which to read on.' },
    },
    ['id'],
  ),
  worldDeclaration('list_subagents', 'Lists your subagents, and how they stand.', {}),
  worldDeclaration('kill_subagent', 'Ends a subagent for good.', { id: sessionId }, ['id']),
])

function withReturnName(declaration: ToolDeclaration): ToolDeclaration {
  const properties = declaration.inputSchema['properties'] as JsonObject
  const name = {
    type: 'string',
    description:
      'A variable of its run_js, or a handle of it such as .h_001: you get its value under a handle of your own.',
  }
  const inputSchema = { ...declaration.inputSchema, properties: { ...properties, return_name: name } }
  return canonical({ ...declaration, inputSchema }, () => 'a declaration') as ToolDeclaration
}

function withDefaultPreset(declaration: ToolDeclaration, preset: ToolPreset): ToolDeclaration {
  const { tools, ...properties } = declaration.inputSchema['properties'] as Record<string, JsonObject>
  const inputSchema = {
    ...declaration.inputSchema,
    properties: {
      ...properties,
      tools: { ...tools, description: 'Names of your tools. Default: those of the preset.' },
      preset: { ...properties['preset'], default: preset },
    },
  }
  return canonical({ ...declaration, inputSchema }, () => 'a declaration') as ToolDeclaration
}

/** What the declaration of `spawn_subagent` says of workers for which nothing is named; `undefined`: they get no tools. */
export function defaultPresetOf(declaration: DeepReadonly<ToolDeclaration> | undefined): ToolPreset | undefined {
  const properties = declaration?.inputSchema['properties'] as DeepReadonly<Record<string, JsonObject>> | undefined
  const name = properties?.['preset']?.['default']
  return typeof name === 'string' && Object.hasOwn(toolPresets, name) ? (name as ToolPreset) : undefined
}

/** The six `subagent` tools for a registry, in order. */
export const subagentDeclarations = oncePerObject((registry: Registry): readonly ToolDeclaration[] => {
  return [subagentDeclaration(registry), ...fixedDeclarations()]
})

/** The five that do not depend on the registry. */
const fixedDeclarations = lazily((): readonly ToolDeclaration[] => [
  worldDeclaration('subagent_status', 'Tells how one of your sessions stands, or lists all in the background.', {
    session_id: sessionId,
  }),
  worldDeclaration(
    'subagent_result',
    'Gives the result of a session, and waits for it if it has not ended.',
    {
      session_id: sessionId,
      read_method: { type: 'string', enum: ['full', 'summary'], description: 'Default: full.' },
      timeout: { ...timeout, description: 'Most seconds to wait. Default: no limit.' },
      offset: { type: 'integer', description: 'Byte of a long full result from which to read on.' },
    },
    ['session_id'],
  ),
  worldDeclaration('subagent_cancel', 'Ends a session.', { session_id: sessionId }, ['session_id']),
  worldDeclaration('subagent_wait', 'Sleeps, at no cost, until sessions in the background have ended.', {
    session_ids: { type: 'array', items: { type: 'string' }, description: 'Default: all in the background.' },
    timeout: { ...timeout, description: 'Most seconds to sleep. Default: no limit.' },
    mode: { type: 'string', enum: ['any', 'all'], description: 'Wake at the first or the last. Default: any.' },
  }),
  worldDeclaration(
    'subagent_resume',
    'Goes on, in a new session, with one that has failed, timed out or was cancelled.',
    { session_id: sessionId },
    ['session_id'],
  ),
])

function subagentDeclaration(registry: Registry): ToolDeclaration {
  return worldDeclaration(
    'subagent',
    'Gives a task to a subagent. With background: true the answer comes at once and the subagent works on; ' +
      'you are told when it has ended, so there is no need to ask. Else the answer is what it found.',
    {
      category: { type: 'string', description: categoryText(registry) },
      prompt: { type: 'string', description: 'The task, with all that the subagent has to know.' },
      load_skills: { type: 'array', items: { type: 'string' }, description: 'Further skills to install on it.' },
      background: { type: 'boolean', description: 'Go on without waiting for it. Default: false.' },
      timeout: { ...timeout, description: 'Most seconds that it may run.' },
    },
    ['prompt'],
  )
}

function categoryText({ subagents, freeForm, fork, defaultCategory }: Registry): string {
  const names = Object.keys(subagents)
    .toSorted(byCodePoint)
    .map((name) => listed({ name, description: subagents[name]?.description }))
  const forks = fork?.enabled ?? true
  const all = forks ? [...names, 'fork: yourself, with all that you know so far, in the background'] : names
  const others = freeForm?.enabled === true ? ['any other name: a specialist made for this task'] : []
  const lines = [...all, ...others].map((line) => `- ${line}`)
  const absent = defaultCategory !== undefined && Object.hasOwn(subagents, defaultCategory) ? defaultCategory : 'fork'
  const isOptional = absent !== 'fork' || forks
  return `Who does it:\n${lines.join('\n') || '- none'}${isOptional ? `\nLeft out: ${absent}.` : ''}`
}

/** A subagent in a list: its name, and its description if there is one. */
export function listed({ name, description = '' }: { name: string; description?: string | undefined }): string {
  return description === '' ? name : `${name}: ${description}`
}

/** Declares a tool that changes the world inside the tick. */
export function worldDeclaration(
  name: string,
  description: string,
  properties: ToolDeclaration['inputSchema'],
  required: readonly string[] = [],
): ToolDeclaration {
  return canonical(
    { name, description, inputSchema: { type: 'object', properties, required }, restart: 'pure', world: true },
    () => `the declaration of '${name}'`,
  ) as ToolDeclaration
}
