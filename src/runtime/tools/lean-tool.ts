import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { Tool } from '../../tools/port.ts'
import { canonical } from '../../world/canonical.ts'
import type { Json, JsonObject } from '../../world/json.ts'

/** Bounds of a value. The handler refuses what breaks them, in words; a model that knows them in advance gains little. */
const bounds: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'minimum', 'maximum', 'additionalProperties'])

/** A tool whose declaration says nothing that goes without saying: that costs tokens in every request. */
export function leanTool(tool: Tool): Tool {
  const { inputSchema } = tool.declaration
  const properties = Object.entries(tableOf(inputSchema['properties']))
  const lean = {
    ...leanSchema(inputSchema),
    properties: Object.fromEntries(properties.map(([name, value]) => [name, leanSchema(tableOf(value))])),
  }
  const declaration = canonical({ ...tool.declaration, inputSchema: lean }, () => 'a declaration') as ToolDeclaration
  return Object.freeze({ ...tool, declaration })
}

/** Without bounds, and without saying that a flag is false where it is left out. */
function leanSchema(schema: JsonObject): JsonObject {
  const said = Object.entries(schema).filter(
    ([key, value]) => !bounds.has(key) && !(key === 'default' && value === false),
  )
  return Object.fromEntries(said)
}

function tableOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}
