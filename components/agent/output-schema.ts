import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { JsonSchema } from '../../src/protocol/json.ts'

/** What an agent's final answer has to look like, as JSON Schema. An answer that does not follow gets one repair round. */
export const OutputSchema = defineComponent('OutputSchema', () => z.strictObject({ schema: JsonSchema() }))
