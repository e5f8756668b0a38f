import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { checkJson } from './schema-issues.ts'

/** Schemas with the bounds that their models are not shown. */
const whole = new WeakMap<object, JsonObject>()

/** All that is wrong with the arguments of a call, in one line; `undefined` if nothing. */
export function argumentFaults({ inputBounds, inputSchema }: ToolDeclaration, input: Json): string | undefined {
  if (inputBounds === undefined) return checkJson(inputSchema, input)
  let schema = whole.get(inputBounds)
  if (schema === undefined) whole.set(inputBounds, (schema = bounded(inputSchema, inputBounds)))
  return checkJson(schema, input)
}

function bounded(schema: JsonObject, bounds: JsonObject): JsonObject {
  const ofProperties = tableOf(bounds['properties'])
  const properties = Object.entries(tableOf(schema['properties'])).map(
    ([name, value]) => [name, { ...tableOf(value), ...tableOf(ofProperties[name]) }] as const,
  )
  return { ...schema, ...bounds, properties: Object.fromEntries(properties) }
}

/** A part of a schema, where it is an object. */
export function tableOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}
