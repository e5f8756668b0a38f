import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { cutText } from '../../base/cut-text.ts'
import { schemaFault } from '../../rules/text/schema-issues.ts'
import { cleanText } from '../../tools/files/clean-text.ts'
import type { Json, JsonObject } from '../../base/json.ts'

/** A tool as its server lists it: what counts of it, cleaned and bounded. */
export interface ListedTool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject | undefined
  readonly hints?: { readonly readOnly?: boolean | undefined; readonly idempotent?: boolean | undefined } | undefined
}

/** Characters of a tool's description. */
const maxDescriptionChars = 4_000
/** Characters of a description inside of a schema. */
const maxFieldChars = 1_000
/** Characters of a schema's JSON; of a longer one nothing is passed on. */
const maxSchemaChars = 40_000
const maxSchemaDepth = 24

/**
 * The declaration of a server's tool. What the server says of it is shown as the words of that server.
 *
 * @param isTrusted hints of the server on what its tools do count
 */
export function toolDeclaration(server: string, name: string, tool: ListedTool, isTrusted: boolean): ToolDeclaration {
  const { readOnly = false, idempotent = false } = (isTrusted ? tool.hints : undefined) ?? {}
  const { description = '', inputSchema } = tool
  return {
    name,
    description:
      description === ''
        ? `A tool of the MCP server '${server}'.`
        : `The MCP server '${server}' says of it: ${description}`,
    inputSchema,
    restart: readOnly ? 'pure' : idempotent ? 'keyed' : 'once',
    ...(readOnly && { operation: 'read' as const }),
    category: 'mcp',
  }
}

/** What is taken over of what a server says of a tool: clean texts, and schemas that can be read. */
export function cleanTool({ description, inputSchema, outputSchema, ...tool }: ListedTool): ListedTool {
  const said = plainText(description ?? '', maxDescriptionChars).trim()
  return {
    ...tool,
    ...(said !== '' && { description: said }),
    inputSchema: usableSchema(inputSchema),
    ...(outputSchema !== undefined && JSON.stringify(outputSchema).length <= maxSchemaChars && { outputSchema }),
  }
}

/** Without terminal codes and characters that are not seen, and not longer than so many characters. */
export function plainText(text: string, maxChars: number): string {
  const seen = cleanText(text.toWellFormed()).replaceAll(/\p{Cf}/gu, '')
  const cut = cutText(seen, maxChars)
  return cut === seen ? cut : `${cut} […]`
}

/**
 * A schema that calls can be checked by: an object's, without what cannot be read or would take long. Where nothing usable is
 * left, any object fits, and the server checks the arguments itself.
 */
function usableSchema(schema: JsonObject): JsonObject {
  if (JSON.stringify(schema).length > maxSchemaChars) return { type: 'object' }
  const { $schema: _, ...rest } = plainSchema(schema, 0) as Record<string, Json>
  const usable = { ...rest, type: 'object' } satisfies JsonObject
  return schemaFault(usable) === undefined ? usable : { type: 'object' }
}

/** Texts are cleaned. Patterns are left out: one that backtracks for minutes would stop the agent, and the server checks them. */
function plainSchema(value: Json, depth: number): Json {
  if (depth > maxSchemaDepth) return {}
  if (Array.isArray(value)) return value.map((item) => plainSchema(item, depth + 1))
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? value.toWellFormed() : value
  const schema = value as JsonObject
  const fields = Object.entries(schema).flatMap(([key, field]): [string, Json][] => {
    if (key === 'pattern' && typeof field === 'string') return []
    if (key === 'patternProperties') return []
    const isText = (key === 'description' || key === 'title') && typeof field === 'string'
    return [[key.toWellFormed(), isText ? plainText(field, maxFieldChars) : plainSchema(field as Json, depth + 1)]]
  })
  return Object.fromEntries(fields)
}
