import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'
import { givenName, json } from '../../src/protocol/values.ts'

/** Knowledge that can be installed on an agent: a text, data, and the names of the tools that go with it. */
export const Skill = lazily(() =>
  z.strictObject({
    data: json().optional(),
    description: z.string().optional(),
    name: givenName(),
    prompt: z.string().optional(),
    /** Names of the tools that came with it; their declarations stand in the agent's `ToolRegistry`. */
    tools: z.array(z.string()).optional(),
  }),
)
export type Skill = DataOf<typeof Skill>

/** The skills that an agent has, in the order in which they were installed. Names are unique. */
export const Skills = defineComponent('Skills', () =>
  z.strictObject({
    installed: z
      .array(Skill())
      .refine(
        (skills) => new Set(skills.map(({ name }) => name)).size === skills.length,
        'two skills have the same name',
      ),
  }),
)
