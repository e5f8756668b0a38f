import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { tableOf } from '../../rules/text/argument-faults.ts'
import type { Tool } from '../../tools/port.ts'
import { canonical } from '../../world/canonical.ts'
import type { JsonObject } from '../../base/json.ts'

/** Bounds of a value. What breaks them is refused in words; a model that knows them in advance gains little. */
const bounds: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'minimum', 'maximum', 'additionalProperties'])

/** A tool whose schema says nothing that goes without saying, which costs tokens in every request: its bounds stand beside it. */
export function leanTool(tool: Tool): Tool {
  const { inputSchema } = tool.declaration
  const properties = Object.entries(tableOf(inputSchema['properties'])).map(
    ([name, value]) => [name, tableOf(value)] as const,
  )
  const lean = {
    ...leanSchema(inputSchema),
    properties: Object.fromEntries(properties.map(([name, value]) => [name, leanSchema(value)])),
  }
  const bounded = properties.map(([name, value]) => [name, boundsOf(value)] as const)
  const inputBounds = {
    ...boundsOf(inputSchema),
    properties: Object.fromEntries(bounded.filter(([, value]) => Object.keys(value).length > 0)),
  }
  const made = { ...tool.declaration, inputSchema: lean, inputBounds }
  const declaration = canonical(made, () => 'a declaration') as ToolDeclaration
  return Object.freeze({ ...tool, declaration })
}

function boundsOf(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => bounds.has(key)))
}

/** Without bounds, and without saying that a flag is false where it is left out. */
function leanSchema(schema: JsonObject): JsonObject {
  const said = Object.entries(schema).filter(
    ([key, value]) => !bounds.has(key) && !(key === 'default' && value === false),
  )
  return Object.fromEntries(said)
}
