import { z } from 'zod'
import { ToolDeclaration } from '../../components/tool-declaration.ts'
import { canonical } from '../world/canonical.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { JsonObject } from '../world/json.ts'
import type { Tool, ToolContext } from './port.ts'
import { schemaIssues } from './schema-issues.ts'
import { errorOutput, toolOutput } from './tool-output.ts'

/** What `defineTool` makes a tool of. */
export interface ToolOptions<Schema extends z.core.$ZodType> {
  /** What models call it by: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  /** What it does and when to use it, for models. */
  readonly description: string
  /** Schema of the arguments, an object. Models see it as JSON Schema; `run` gets what it makes of their arguments. */
  readonly input: Schema
  /**
   * What a restart does with a call that was running: `pure` runs again, `keyed` runs again under the same `key`, `once`
   * is never run twice, and the model is told that it may have happened.
   */
  readonly restart: 'pure' | 'keyed' | 'once'
  /** A person has to agree before each call. @default false */
  readonly approval?: boolean | undefined
  /** Longest that a person has to agree, in milliseconds of world time; after that the call is denied. Absent: no limit. */
  readonly approvalTimeoutMs?: number | undefined
  /** Longest run, in milliseconds of world time. Absent: as long as it takes. */
  readonly timeoutMs?: number | undefined
  /** Most characters of text that a model gets of one result. @default 50,000 */
  readonly maxResultChars?: number | undefined
  /**
   * Does the work. Gives a text, a `ToolOutput`, any value that JSON can say, or a promise of one of these. What it throws
   * fails the call with `tool-threw`.
   */
  readonly run: (input: z.output<Schema>, context: ToolContext) => unknown
}

const Options = z.strictObject({
  name: ToolDeclaration.shape.name,
  description: z.string().refine((text) => text.trim() !== '', 'expected a text that says what the tool does'),
  input: z.custom((value) => value instanceof Object && '_zod' in value, 'expected a zod schema'),
  restart: z.enum(['pure', 'keyed', 'once']),
  approval: ToolDeclaration.shape.approval,
  approvalTimeoutMs: ToolDeclaration.shape.approvalTimeoutMs,
  timeoutMs: ToolDeclaration.shape.timeoutMs,
  maxResultChars: z.int().positive().optional(),
  run: z.custom((value) => typeof value === 'function', 'expected a function'),
})

/**
 * Makes a tool out of a schema and a function. Arguments are checked before `run` sees them: a model that gets them wrong
 * is told which and why.
 *
 * @throws `invalid-argument` for options that are missing, wrong or unknown, and for a schema that is no object or that
 * JSON Schema cannot express
 */
export function defineTool<Schema extends z.core.$ZodType>(options: ToolOptions<Schema>): Tool {
  const checked = Options.safeParse(options)
  if (!checked.success) throw refusal(options, schemaIssues(checked.error))
  const { input: schema, maxResultChars, run, ...declared } = options
  const declaration = canonical(
    { ...declared, inputSchema: jsonSchema(schema, options) },
    () => `The declaration of tool '${options.name}'`,
  ) as ToolDeclaration
  return Object.freeze<Tool>({
    declaration,
    async call(input, context) {
      const parsed = await z.safeParseAsync(schema, input)
      if (parsed.success) return toolOutput(await run(parsed.data, context), maxResultChars)
      return errorOutput(`Invalid arguments for '${declaration.name}': ${schemaIssues(parsed.error)}`, maxResultChars)
    },
  })
}

/** What models see of the schema: canonical, so that the same tool gives the same bytes in every process. */
function jsonSchema(schema: z.core.$ZodType, options: unknown): JsonObject {
  let result: JsonObject
  try {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', override: withoutNoise })
    result = canonical(rest, () => 'JSON Schema') as JsonObject
  } catch (error) {
    throw refusal(options, `input: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
  if (result.type === 'object') return result
  throw refusal(options, `input: expected an object schema, came ${JSON.stringify(result).slice(0, 200)}; wrap it in z.object`)
}

/** `z.int()` brings the bounds of a double's integers along: nothing that a model needs to read. */
function withoutNoise({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

function refusal(options: unknown, what: string, cause?: ErrorOptions): EntiaError {
  const name = typeof options === 'object' && options !== null && 'name' in options ? String(options.name) : undefined
  const tool = name === undefined ? 'A tool' : `Tool '${name}'`
  return new EntiaError('invalid-argument', `${tool} cannot be defined: ${what}.`, { tool: name }, cause)
}
