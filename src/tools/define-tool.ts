import { z } from 'zod'
import { ToolDeclaration } from '../protocol/tool-declaration.ts'
import { canonical } from '../world/canonical.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Json, JsonObject } from '../world/json.ts'
import { isThenable } from '../world/is-thenable.ts'
import { lazily } from '../world/lazily.ts'
import { checkJson, schemaIssues } from '../rules/text/schema-issues.ts'
import { cutText } from '../rules/text/cut-text.ts'
import { isZod, jsonSchemaOf, schemaProblem } from './json-schema-of.ts'
import type { Tool, ToolContext, ToolOutput } from './port.ts'
import { errorOutput, toolOutput } from './tool-output.ts'

/** What `defineTool` makes a tool of. */
export interface ToolOptions<Schema extends z.core.$ZodType | JsonObject> {
  /** What models call it by: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  /** What it does and when to use it, for models. */
  readonly description: string
  /**
   * Schema of the arguments, an object: of zod 4, or JSON Schema. Models see it as JSON Schema; `run` gets what zod makes of
   * their arguments, or, under JSON Schema, the arguments as they are.
   */
  readonly input: Schema
  /**
   * What a restart does with a call that was running: `pure` runs again, `keyed` runs again under the same `key`, `once`
   * is never run twice, and the model reads that it may have happened.
   */
  readonly restart: 'pure' | 'keyed' | 'once'
  /** Each call needs the user's approval. @default false */
  readonly approval?: boolean | undefined
  /** Time for the approval, in milliseconds of world time; after that the call is denied. Absent: no limit. */
  readonly approvalTimeoutMs?: number | undefined
  /** Longest run, in milliseconds of world time. Absent: as long as it takes. */
  readonly timeoutMs?: number | undefined
  /** Calling it again with the same arguments is no sign of a loop, as for a tool that polls. @default false */
  readonly repeatable?: boolean | undefined
  /** What it does to the outside, for a policy. Absent: unknown, so a policy asks. */
  readonly operation?: ToolDeclaration['operation']
  /** Its arguments that are paths, for a policy. Absent: those with usual names, such as `path` and `file`. */
  readonly paths?: readonly string[] | undefined
  /** The group that it is granted with, such as `file` or `git`. */
  readonly category?: string | undefined
  /** Most characters of text that a model gets of one result. @default 50,000 */
  readonly maxResultChars?: number | undefined
  /**
   * Does the work. Gives a text, a `ToolOutput`, any value that JSON can say, or a promise of one of these. What it throws
   * fails the call with `tool-threw`.
   */
  readonly run: (input: ArgumentsOf<Schema>, context: ToolContext) => unknown
}

/** What `run` gets under a schema. */
type ArgumentsOf<Schema> = Schema extends z.core.$ZodType ? z.output<Schema> : JsonObject

const optionsSchema = lazily(() =>
  z.strictObject({
    name: ToolDeclaration().shape.name,
    description: z.string().refine((text) => text.trim() !== '', 'expected a text that says what the tool does'),
    input: z.unknown().superRefine((given, context) => {
      const problem = schemaProblem(given)
      if (problem !== undefined) context.addIssue(problem)
    }),
    restart: z.enum(['pure', 'keyed', 'once']),
    approval: ToolDeclaration().shape.approval,
    approvalTimeoutMs: ToolDeclaration().shape.approvalTimeoutMs,
    timeoutMs: ToolDeclaration().shape.timeoutMs,
    repeatable: ToolDeclaration().shape.repeatable,
    operation: ToolDeclaration().shape.operation,
    paths: ToolDeclaration().shape.paths,
    category: ToolDeclaration().shape.category,
    maxResultChars: z.int().positive().optional(),
    run: z.custom((value) => typeof value === 'function', 'expected a function'),
  }),
)

/**
 * Makes a tool out of a schema and a function. Arguments are checked before `run` sees them: a model that gets them wrong
 * is told which and why.
 *
 * @throws `invalid-argument` for options that are missing, wrong or unknown, and for a schema that is no object or that
 * JSON Schema cannot express
 */
export function defineTool<const Schema extends z.core.$ZodType | JsonObject>(options: ToolOptions<Schema>): Tool {
  const checked = optionsSchema().safeParse(options)
  if (!checked.success) throw refusal(options, schemaIssues(checked.error))
  const { input: schema, maxResultChars, run, ...declared } = options
  const parse = parser<Schema>(schema)
  const declaration = canonical(
    { ...declared, inputSchema: argumentsSchema(schema, options) },
    () => `The declaration of tool '${options.name}'`,
  ) as ToolDeclaration
  return Object.freeze<Tool>({
    declaration,
    call(input, context) {
      const handle = (parsed: Parsed<Schema>): ToolOutput | Promise<ToolOutput> => {
        if (typeof parsed === 'string') {
          return errorOutput(`Invalid arguments for '${declaration.name}': ${parsed}`, maxResultChars)
        }
        const result: unknown = run(parsed.data, context)
        if (!isThenable(result)) return toolOutput(result, maxResultChars)
        return Promise.resolve(result).then((value) => toolOutput(value, maxResultChars))
      }
      const parsed = parse(input)
      return parsed instanceof Promise ? parsed.then(handle) : handle(parsed)
    },
  })
}

/** What arguments come to under a schema, or what is wrong with them. */
type Parsed<Schema> = string | { readonly data: ArgumentsOf<Schema> }

/** Checks arguments at once, unless the schema has an asynchronous part. */
function parser<Schema extends z.core.$ZodType | JsonObject>(
  schema: z.core.$ZodType | JsonObject,
): (input: Json) => Parsed<Schema> | Promise<Parsed<Schema>> {
  if (!isZod(schema)) return (input) => checkJson(schema, input) ?? { data: input as ArgumentsOf<Schema> }
  const read = (result: z.ZodSafeParseResult<unknown>): Parsed<Schema> =>
    result.success ? { data: result.data as ArgumentsOf<Schema> } : schemaIssues(result.error)
  let isAsynchronous = false
  return (input) => {
    try {
      if (!isAsynchronous) return read(z.safeParse(schema, input))
    } catch (error) {
      if (!(error instanceof z.core.$ZodAsyncError)) throw error
      isAsynchronous = true
    }
    return z.safeParseAsync(schema, input).then(read)
  }
}

/** What models see of the schema of a tool's arguments. Providers take nothing but objects. */
function argumentsSchema(schema: z.core.$ZodType | JsonObject, options: unknown): JsonObject {
  const result = jsonSchemaOf(schema, `${subject(options)} cannot be defined: input`)
  if (result.type === 'object') return result
  const given = cutText(JSON.stringify(result), 200)
  throw refusal(options, `input: expected an object schema, got ${given}; wrap it in z.object`)
}

function refusal(options: unknown, what: string): EntiaError {
  return new EntiaError('invalid-argument', `${subject(options)} cannot be defined: ${what}.`)
}

function subject(options: unknown): string {
  const name: unknown = typeof options === 'object' && options !== null && 'name' in options ? options.name : undefined
  return typeof name === 'string' ? `Tool '${cutText(name, 100)}'` : 'A tool'
}
