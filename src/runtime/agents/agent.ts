import { Conversation } from '../../../components/agent/conversation.ts'
import { Limits } from '../../../components/agent/turn.ts'
import { Llm, type LlmData, OutputSchema } from '../../../components/agent/llm.ts'
import type { AssistantMessage, FileBlock, Message, UserMessage } from '../../protocol/message.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { type ConfigInput, configured, readConfig } from '../../rules/config/config.ts'
import { lastWords } from '../../rules/projection/text-of.ts'
import { declare } from '../../tools/declare.ts'
import { jsonSchemaOf } from '../../rules/text/json-schema-of.ts'
import type { StandardSchema } from '../../rules/text/standard-schema.ts'
import type { Tool } from '../../tools/port.ts'
import type { Entity, Initial } from '../../world/component.ts'
import type { JsonObject } from '../../base/json.ts'
import { refuseNoList, refuseUnknownOptions } from '../../base/known-options.ts'
import type { World } from '../../world/world.ts'
import type { z } from 'zod'

/** Options of `agent`. */
export interface AgentOptions {
  /** `provider/model`. */
  readonly model: string
  /** Template of the system prompt. */
  readonly system?: string
  /** What its model may call: tools of the Host, or declarations, such as that of a world tool. */
  readonly tools?: readonly (Pick<Tool, 'declaration'> | ToolDeclaration)[]
  /** The conversation so far; a text is a user's message. @default none */
  readonly messages?: string | readonly Message[]
  /** What the final answer has to look like: a schema of zod 4, one of another maker that keeps to Standard Schema, or JSON Schema. */
  readonly output?: z.ZodType | StandardSchema | JsonObject
  /** 0 or more. @default the provider's */
  readonly temperature?: number | undefined
  /** Most tokens that the model may write in one call. @default the provider's */
  readonly maxOutputTokens?: number | undefined
  /** How much it may think before it answers: an effort, or a number of tokens. @default the provider's */
  readonly thinking?: LlmData['thinking']
  /** When a failed call is tried again; `false`: never. @default the provider's policy, or else `standardRetry` */
  readonly retry?: LlmData['retry']
  /** Longest that one try of a model call may take, in milliseconds. @default 600000 */
  readonly timeoutMs?: number | undefined
  /** Model calls in a turn; tries of the same call count once. @default 50 */
  readonly maxSteps?: number
  /** Tool calls in a turn; further ones are answered with an error. @default 200 */
  readonly maxToolCalls?: number
  /** Switches on what keeps its context alive; `readConfig` reads it. Absent: none of that. */
  readonly config?: ConfigInput | Readonly<Record<string, unknown>>
}

export const agentOptionNames: readonly (keyof AgentOptions)[] = [
  'model',
  'system',
  'tools',
  'messages',
  'output',
  'temperature',
  'maxOutputTokens',
  'thinking',
  'retry',
  'timeoutMs',
  'maxSteps',
  'maxToolCalls',
  'config',
]

/**
 * The components of an agent, for `world.spawn(...agent({ … }))`.
 *
 * @throws `invalid-argument` for an option that it does not know; `config-invalid` for a configuration that cannot be used
 */
export function agent(options: AgentOptions): Initial[] {
  refuseUnknownOptions('agent()', options, agentOptionNames)
  refuseNoList('agent()', 'tools', options.tools)
  const { model, system, tools, messages = [], output, maxSteps, maxToolCalls, config } = options
  const { temperature, maxOutputTokens, thinking, retry, timeoutMs } = options
  const llm = llmOf({ model, temperature, maxOutputTokens, thinking, retry, timeoutMs })
  const parts = [llm, Conversation(typeof messages === 'string' ? [user(messages)] : messages)]
  if (system !== undefined) parts.push(promptOf({ template: system }))
  if (tools !== undefined) parts.push(registryOf({ tools: declare(...tools) }))
  if (output !== undefined) parts.push(outputSchema(output))
  if (maxSteps !== undefined || maxToolCalls !== undefined) parts.push(limitsOf({ maxSteps, maxToolCalls }))
  if (config !== undefined) parts.push(...configured(readConfig(config)))
  return parts
}

const llmOf = shared(Llm)
const promptOf = shared(SystemPrompt)
const registryOf = shared(ToolRegistry)
const limitsOf = shared(Limits)

/**
 * Agents are mostly made many alike. One gets the part of the agent before it, if that holds the same: what is remembered by
 * object, such as the size of tools, is then computed once for all of them.
 */
function shared<Options extends object>(make: (options: Options) => Initial): (options: Options) => Initial {
  let last: Initial | undefined
  return (options) => {
    if (last === undefined || !holds(last.initial as JsonObject, options)) last = make(options)
    return last
  }
}

/** What a component holds is frozen, however deep: the same objects have not changed since. */
function holds(held: JsonObject, options: object): boolean {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return given.length === Object.keys(held).length && given.every(([name, value]) => isSame(held[name], value))
}

function isSame(held: unknown, value: unknown): boolean {
  if (!Array.isArray(held) || !Array.isArray(value)) return held === value
  return held.length === value.length && held.every((item, index) => item === value[index])
}

/**
 * The component that asks an agent for a final answer of this form. What a JSON Schema cannot say, such as refinements, is
 * not checked.
 */
export function outputSchema(schema: z.ZodType | StandardSchema | JsonObject): Initial {
  return OutputSchema({ schema: jsonSchemaOf(schema, 'outputSchema') })
}

/** A user's message: a text, files behind it if there are any. */
export function user(text: string, ...files: readonly FileBlock[]): UserMessage {
  return { role: 'user', content: [{ type: 'text', text }, ...files] }
}

/** An assistant's message, for a conversation that is made up beforehand. */
export function assistant(text: string): AssistantMessage {
  return { role: 'assistant', content: [{ type: 'text', text }] }
}

/** The text of the agent's last message that has any, also when its turn is archived; empty if there is none. */
export function lastText(world: World, speaker: Entity): string {
  return lastWords(world, speaker)
}
