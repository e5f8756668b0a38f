import { z } from 'zod'
import { ToolDeclaration } from '../protocol/tool-declaration.ts'
import { canonical } from '../world/canonical.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { isThenable } from '../base/is-thenable.ts'
import { lazily } from '../base/lazily.ts'
import { checkJson, schemaIssues } from '../rules/text/schema-issues.ts'
import { cutText } from '../base/cut-text.ts'
import { type AnySchema, isZod, jsonSchemaOf, schemaProblem, type SchemaOutput } from '../rules/text/json-schema-of.ts'
import { isStandard, type Validated } from '../rules/text/standard-schema.ts'
import type { Tool, ToolContext, ToolOutput } from './port.ts'
import { errorOutput, keptOutput, toolOutput } from './tool-output.ts'
import { validated } from './validated.ts'

/** The parts of a tool. */
export interface ToolOptions<Schema extends AnySchema> {
  /** For models: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  /** For models: what it does and when to use it. */
  readonly description: string
  /**
   * Object schema of zod 4, one of another maker that keeps to Standard Schema, or JSON Schema. `run` gets what the schema gives, or
   * unchanged arguments under JSON Schema.
   */
  readonly input: Schema
  /**
   * After a restart, a running call runs again (`pure`), runs again under the same `key` (`keyed`), or never runs twice (`once`):
   * the model then reads that it may have happened.
   */
  readonly restart: 'pure' | 'keyed' | 'once'
  /** Each call needs the user's approval. @default false */
  readonly approval?: boolean | undefined
  /** Milliseconds of world time, then the call is denied. Absent: no limit. */
  readonly approvalTimeoutMs?: number | undefined
  /** Milliseconds of world time for one call, from its beginning. @default 600_000 */
  readonly timeoutMs?: number | undefined
  /** Repeated identical calls are no loop, as for a tool that polls. @default false */
  readonly repeatable?: boolean | undefined
  /** Its effect on the outside, for a policy. Absent: unknown, so a policy asks. */
  readonly operation?: ToolDeclaration['operation']
  /** Arguments that are paths, for a policy. Absent: those with usual names, such as `path` and `file`. */
  readonly paths?: readonly string[] | undefined
  /** The group it is granted with, such as `file` or `git`. */
  readonly category?: string | undefined
  /** Characters of text in one result. @default 50,000 */
  readonly maxResultChars?: number | undefined
  /** Gives a text, a `ToolOutput`, any JSON value, or a promise of one. An error fails the call with `tool-threw`. */
  readonly run: (input: SchemaOutput<Schema>, context: ToolContext) => unknown
}

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
 * Makes a tool. Arguments are checked before `run`; a model reads which are wrong and why.
 *
 * @throws `invalid-argument` for wrong options, and for a schema that is not of an object or that JSON Schema cannot express
 */
export function defineTool<const Schema extends AnySchema>(options: ToolOptions<Schema>): Tool {
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
        if (!isThenable(result)) return outputOf(result, context, maxResultChars)
        return Promise.resolve(result).then((value) => outputOf(value, context, maxResultChars))
      }
      const parsed = parse(input)
      return parsed instanceof Promise ? parsed.then(handle) : handle(parsed)
    },
  })
}

function outputOf(
  result: unknown,
  { handles }: ToolContext,
  maxChars: number | undefined,
): ToolOutput | Promise<ToolOutput> {
  return handles === undefined ? toolOutput(result, maxChars) : keptOutput(result, handles, maxChars)
}

/** The arguments, or what is wrong with them. */
type Parsed<Schema> = string | { readonly data: SchemaOutput<Schema> }

/** Synchronous, unless the schema has an asynchronous part. */
function parser<Schema extends AnySchema>(
  schema: AnySchema,
): (input: Json) => Parsed<Schema> | Promise<Parsed<Schema>> {
  if (!isZod(schema) && isStandard(schema)) {
    const taken = (result: Validated): Parsed<Schema> =>
      'problem' in result ? result.problem : { data: result.data as SchemaOutput<Schema> }
    return (input) => {
      const result = validated(schema, input)
      return result instanceof Promise ? result.then(taken) : taken(result)
    }
  }
  if (!isZod(schema)) return (input) => checkJson(schema, input) ?? { data: input as SchemaOutput<Schema> }
  const read = (result: z.ZodSafeParseResult<unknown>): Parsed<Schema> =>
    result.success ? { data: result.data as SchemaOutput<Schema> } : schemaIssues(result.error)
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

/** Providers accept only object schemas. JSON Schema of other tools says so in a reference, or in each of its parts. */
function argumentsSchema(schema: AnySchema, options: unknown): JsonObject {
  const result = jsonSchemaOf(schema, `${subject(options)} cannot be defined: input`)
  if (result['type'] === 'object') return result
  if (!isZod(schema) && isOfObjects(result, result))
    return canonical({ ...result, type: 'object' }, () => 'JSON Schema') as JsonObject
  const given = cutText(JSON.stringify(result), 200)
  throw refusal(options, `input: expected an object schema, got ${given}; wrap it in z.object`)
}

/** References that are followed to find out what a schema is of. */
const maxReferences = 16

/** Does a schema without a type allow objects alone? */
function isOfObjects(schema: Json | undefined, root: JsonObject, left = maxReferences): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false
  const { $ref: ref, allOf, anyOf, oneOf, type } = schema as JsonObject
  if (type !== undefined) return type === 'object'
  const [, table, name] = typeof ref === 'string' ? (/^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? []) : []
  if (table !== undefined && name !== undefined && left > 0) {
    const known = root[table]
    return typeof known === 'object' && known !== null && isOfObjects((known as JsonObject)[name], root, left - 1)
  }
  const isOf = (part: Json): boolean => isOfObjects(part, root, left)
  if (Array.isArray(allOf)) return (allOf as readonly Json[]).some(isOf)
  const variants = [anyOf, oneOf].find((list) => Array.isArray(list)) as readonly Json[] | undefined
  return variants !== undefined && variants.length > 0 && variants.every(isOf)
}

function refusal(options: unknown, what: string): EntiaError {
  return new EntiaError('invalid-argument', `${subject(options)} cannot be defined: ${what}.`)
}

function subject(options: unknown): string {
  const name: unknown = typeof options === 'object' && options !== null && 'name' in options ? options.name : undefined
  return typeof name === 'string' ? `Tool '${cutText(name, 100)}'` : 'A tool'
}
