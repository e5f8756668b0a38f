import { z } from 'zod'
import { type DataOf, defineComponent, defineLog } from '../../src/world/component.ts'
import type { Json, JsonObject } from '../../src/base/json.ts'
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
import { SharedHandles } from '../agent/handle.ts'
import { Retrieval } from '../agent/workspace-entry.ts'
import { GrantLimits } from '../../src/protocol/delegation.ts'
import { SubagentRegistry } from './subagent-registry.ts'
import { ToolCeiling } from './ancestry.ts'
import { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'

/** What a session's agent is made of, as of its launch. Shared by sessions that need the same, and despawned with them. */
export const Blueprint = defineComponent(
  'Blueprint',
  () =>
    z.strictObject({
      archival: Archival.schema.optional(),
      /** No one can approve. */
      approvals: z.literal('denied').optional(),
      /** Of a fork: results of open calls, behind the shared history. */
      behind: z.array(Message()).optional(),
      boundary: BoundaryEntry().optional(),
      ceiling: ToolCeiling.schema.optional(),
      context: Context.schema.optional(),
      /** Kept while a session made from it could be resumed. */
      captured: z.literal(true).optional(),
      /** Literal end of the system prompt. */
      ending: z.string().optional(),
      /** Of the other fields, to find equal ones. */
      hash: z.string(),
      /** Skills of the Host, installed behind `skills`. */
      hostSkills: z.array(z.string()),
      /** For some of these: the only tools that come with them. */
      hostSkillTools: z.array(z.strictObject({ skill: z.string(), tools: z.array(z.string()) })).optional(),
      /** Host tools by name, before `tools`. */
      hostTools: z.array(z.string()),
      /** Of a fork: holders that its parent knew. */
      holders: z.array(KnownHolder()).optional(),
      /** Of a fork: the list in the system prompt that it shares. */
      liveSubagents: z.string().optional(),
      limits: GrantLimits().optional(),
      llm: Llm.schema,
      maxSteps: z.number().int().min(1),
      permissions: Permissions.schema.optional(),
      /** Of a fork: the required start of its first request. */
      prefix: Prefix.schema.optional(),
      /** Calls without a known price are refused. */
      pricedOnly: z.literal(true).optional(),
      registry: SubagentRegistry.schema.optional(),
      retrieval: Retrieval.schema.optional(),
      skills: z.array(Skill()),
      template: z.string(),
      tools: z.array(ToolDeclaration()),
      /** It has a `Workspace`; of a fork: with its parent's handles. */
      workspace: SharedHandles().or(z.literal(true)).optional(),
    }),
  { version: 2, migrate: withPresentPrefix },
)
export type BlueprintData = DataOf<() => typeof Blueprint.schema>

function withPresentPrefix(saved: Json): Json {
  const blueprint = saved as JsonObject
  const { prefix } = blueprint
  return prefix === undefined ? blueprint : { ...blueprint, prefix: withoutMessages(prefix) }
}

/** Of a fork: the first messages of its conversation. On the blueprint. */
export const SharedHistory = defineLog('SharedHistory', Message, { edited: Edited })

/** Which agent a blueprint belongs to. */
export const BlueprintOf = defineComponent('BlueprintOf', () => z.strictObject({ agent: entity() }), {
  ref: 'agent',
  cascade: true,
})

/** Which blueprint a session is made from. */
export const MadeFrom = defineComponent('MadeFrom', () => z.strictObject({ blueprint: entity() }), { ref: 'blueprint' })
