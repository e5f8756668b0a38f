import { z } from 'zod'
import { type DataOf, defineComponent, defineLog } from '../../src/world/component.ts'
import type { Json, JsonObject } from '../../src/world/json.ts'
import { Archival } from '../context/archival.ts'
import { BoundaryEntry } from '../../src/protocol/context.ts'
import { Context } from '../context/context.ts'
import { entity } from '../../src/protocol/values.ts'
import { KnownHolder } from '../context/holder.ts'
import { Llm } from '../agent/llm.ts'
import { Message } from '../../src/protocol/message.ts'
import { Permissions } from '../agent/tool-registry.ts'
import { Edited } from '../agent/conversation.ts'
import { Prefix, withoutMessages } from '../agent/prefix.ts'
import { Skill } from '../agent/skills.ts'
import { GrantLimits } from '../../src/protocol/delegation.ts'
import { SubagentRegistry } from './subagent-registry.ts'
import { ToolCeiling } from './ancestry.ts'
import { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'

/**
 * What a session's agent is made of, as it was in the tick of the launch. An agent's sessions that are to be made of the
 * same share one; it goes with the last session that could still begin from it.
 */
export const Blueprint = defineComponent(
  'Blueprint',
  () =>
    z.strictObject({
      archival: Archival.schema.optional(),
      /** Nobody can agree to what it does. */
      approvals: z.literal('denied').optional(),
      /** Of a fork: results of open calls, behind the shared history. */
      behind: z.array(Message()).optional(),
      /** Of a fork: where its parent's projection began. */
      boundary: BoundaryEntry().optional(),
      ceiling: ToolCeiling.schema.optional(),
      context: Context.schema.optional(),
      /** A session that goes on with one made from it is made from it as well, so it is kept while one could be resumed. */
      captured: z.literal(true).optional(),
      /** Literal text at the end of the system prompt. */
      ending: z.string().optional(),
      /** Of the rest, by which equal ones are found. */
      hash: z.string(),
      /** Skills of the Host's catalogue, by name, to be installed behind `skills`. */
      hostSkills: z.array(z.string()),
      /** Of some of these, the only tools that come with them; of the others, all do. */
      hostSkillTools: z.array(z.strictObject({ skill: z.string(), tools: z.array(z.string()) })).optional(),
      /** Tools of the Host, by name; they stand before `tools`. */
      hostTools: z.array(z.string()),
      /** Of a fork: the holders that its parent knew. */
      holders: z.array(KnownHolder()).optional(),
      /** Of a fork: the list of live subagents in the system prompt that it shares. */
      liveSubagents: z.string().optional(),
      limits: GrantLimits().optional(),
      llm: Llm.schema,
      maxSteps: z.number().int().min(1),
      permissions: Permissions.schema.optional(),
      /** Of a fork: what its first request has to begin with. */
      prefix: Prefix.schema.optional(),
      /** Whoever pays for it refuses calls whose price is not known. */
      pricedOnly: z.literal(true).optional(),
      registry: SubagentRegistry.schema.optional(),
      skills: z.array(Skill()),
      /** The template of its system prompt. */
      template: z.string(),
      tools: z.array(ToolDeclaration()),
    }),
  { version: 2, migrate: withPresentPrefix },
)
export type BlueprintData = DataOf<() => typeof Blueprint.schema>

function withPresentPrefix(saved: Json): Json {
  const blueprint = saved as JsonObject
  const { prefix } = blueprint
  return prefix === undefined ? blueprint : { ...blueprint, prefix: withoutMessages(prefix) }
}

/** Of a fork: the messages that its conversation begins with. On the blueprint. */
export const SharedHistory = defineLog('SharedHistory', Message, { edited: Edited })

/** The agent whose sessions a blueprint is for. */
export const BlueprintOf = defineComponent('BlueprintOf', () => z.strictObject({ agent: entity() }), {
  ref: 'agent',
  cascade: true,
})

/** The blueprint that a session's agent is made from. */
export const MadeFrom = defineComponent('MadeFrom', () => z.strictObject({ blueprint: entity() }), { ref: 'blueprint' })
