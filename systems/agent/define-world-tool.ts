import { z } from 'zod'
import { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import {
  type AnySchema,
  isZod,
  jsonSchemaOf,
  schemaProblem,
  type SchemaOutput,
} from '../../src/rules/text/json-schema-of.ts'
import { checkJson, schemaIssues } from '../../src/rules/text/schema-issues.ts'
import { EntiaError } from '../../src/base/entia-error.ts'
import { refuseUnknownOptions, shortly } from '../../src/base/known-options.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { isThenable } from '../../src/base/is-thenable.ts'
import { isStandard, readValidated, type Validated } from '../../src/rules/text/standard-schema.ts'
import type { World } from '../../src/world/world.ts'
import type { Problem, WorldTool, WorldToolCall } from '../sessions/world-tools/world-tool.ts'

/** The parts of a tool that changes the world. */
export interface WorldToolOptions<Schema extends AnySchema> {
  /** For models: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  /** For models: what it does and when to use it. */
  readonly description: string
  /** As of `defineTool`, but it has to check at once. */
  readonly input: Schema
  /** Each call needs the user's approval. @default false */
  readonly approval?: boolean | undefined
  /** Milliseconds of world time, then the call is denied. Absent: no limit. */
  readonly approvalTimeoutMs?: number | undefined
  /** Repeated identical calls are no loop. @default false */
  readonly repeatable?: boolean | undefined
  /** Its effect on the outside, for a policy. Absent: unknown, so a policy asks. */
  readonly operation?: ToolDeclaration['operation']
  /** The group it is granted with. */
  readonly category?: string | undefined
  /**
   * Changes the world in the tick of the call: synchronous, without clock, dice or I/O, as systems are. Gives the answer, or a
   * `problem` that the model reads; `undefined`: a system of the program answers, in this tick or a later
   * one, by adding an `Outcome` to the call and requesting a tick (`world.requestTick()`), which takes it.
   */
  readonly run: (world: World, input: SchemaOutput<Schema>, call: WorldToolCall) => string | Problem | undefined
}

/** A tool that changes the world: put it into `tools` of the agent, and into `worldTools` of `standardSystems`. */
export interface DefinedWorldTool {
  readonly declaration: ToolDeclaration
  readonly answer: WorldTool
}

const optionNames = [
  'approval',
  'approvalTimeoutMs',
  'category',
  'description',
  'input',
  'name',
  'operation',
  'repeatable',
  'run',
]

/**
 * Makes a tool whose calls are answered in the tick that makes them: the change and the answer are saved together or not at all.
 * Permissions, limits, approvals and policies apply as to any other tool.
 *
 * @throws `invalid-argument`
 */
export function defineWorldTool<Schema extends AnySchema>(options: WorldToolOptions<Schema>): DefinedWorldTool {
  refuseUnknownOptions('defineWorldTool', options, optionNames)
  const { input, run, ...declared } = options
  const problem = schemaProblem(input)
  if (problem !== undefined) throw refusal(`input: ${problem}`)
  if (typeof run !== 'function') throw refusal(`run: must be a function, got ${shortly(run)}`)
  const inputSchema = jsonSchemaOf(input, 'defineWorldTool: input')
  if (inputSchema['type'] !== 'object') throw refusal('input: expected an object schema; wrap it in z.object')
  const given = { ...declared, inputSchema, restart: 'pure', world: true }
  const declaration = ToolDeclaration().safeParse(given)
  if (!declaration.success) throw refusal(schemaIssues(declaration.error))
  const { name } = declaration.data
  return Object.freeze({
    declaration: declaration.data,
    answer: (world: World, call: WorldToolCall) => {
      const parsed = parsedBy(input, call.arguments)
      if ('problem' in parsed) return { problem: `Invalid arguments for '${name}': ${parsed.problem}` }
      return run(world, parsed.data as SchemaOutput<Schema>, call)
    },
  })
}

/** A tick waits for nothing: a schema that checks later fits no argument. */
const tooLate = 'its schema takes its time, and a call that is answered in its tick cannot wait'

function parsedBy(schema: AnySchema, value: JsonObject): Validated {
  try {
    if (isZod(schema)) {
      const { data, error } = z.safeParse(schema, value)
      return error === undefined ? { data } : { problem: schemaIssues(error) }
    }
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError) return { problem: tooLate }
    throw error
  }
  if (isStandard(schema)) {
    const result = schema['~standard'].validate(value)
    return isThenable(result) ? { problem: tooLate } : readValidated(result)
  }
  const problem = checkJson(schema, value)
  return problem === undefined ? { data: value } : { problem }
}

function refusal(what: string): EntiaError {
  return new EntiaError('invalid-argument', `defineWorldTool: ${what}.`)
}
