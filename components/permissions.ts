import { z } from 'zod'
import { type DataOf, defineComponent } from '../src/world/component.ts'

/** Which of its tools an agent may run. `denied` beats `allowed`; without `allowed`, all that are not denied. */
export const Permissions = defineComponent('Permissions', () =>
  z.strictObject({ allowed: z.array(z.string()).optional(), denied: z.array(z.string()).optional() }),
)
export type PermissionsData = DataOf<() => typeof Permissions.schema>
