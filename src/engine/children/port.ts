import type { Tool } from '../../tools/port.ts'
import type { Json } from '../../world/json.ts'

/** A skill of a Host's catalogue: what an agent that it is installed on knows and can do more. */
export interface SkillDefinition {
  readonly name: string
  readonly description?: string | undefined
  readonly prompt?: string | undefined
  readonly data?: Json | undefined
  /** Tools that come with it. Their handlers are there for every agent that has them declared. */
  readonly tools?: readonly Tool[] | undefined
}

export interface Catalogue {
  tool(name: string): Tool | undefined
  skill(name: string): SkillDefinition | undefined
  hasProvider(name: string): boolean
}
