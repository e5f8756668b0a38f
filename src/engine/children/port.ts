import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { Tool } from '../../tools/port.ts'
import type { Json } from '../../base/json.ts'

/** A skill of a Host's catalogue: what an agent that it is installed on knows and can do more. */
export interface SkillDefinition {
  readonly name: string
  readonly description?: string | undefined
  readonly prompt?: string | undefined
  readonly data?: Json | undefined
  /** Tools that come with it. Their handlers are there for every agent that has them declared. */
  readonly tools?: readonly Tool[] | undefined
}

/** What sessions are made from: what their Host has, and besides its skills what others of its fleet have. */
export interface Catalogue {
  /** One of its own. */
  tool(name: string): Tool | undefined
  /** Of its own tool, else of one that another Host has. */
  declaration(name: string): ToolDeclaration | undefined
  /** One of its own. */
  skill(name: string): SkillDefinition | undefined
  /** It has the provider, or another Host has it. */
  knowsProvider(name: string): boolean
}
