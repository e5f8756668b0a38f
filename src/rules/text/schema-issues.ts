import { z } from 'zod'
import type { Json } from '../../base/json.ts'

const maxIssues = 10

type Issue = z.core.$ZodIssue

/** A schema's issues: `<field>: <reason>; <field>: <reason>`. */
export function schemaIssues(error: z.core.$ZodError): string {
  const issues = error.issues.flatMap(describe)
  const told = issues.slice(0, maxIssues).join('; ')
  return issues.length > maxIssues ? `${told}; and ${issues.length - maxIssues} more` : told
}

/** The same of what `validate` of a Standard Schema has found wrong. */
export function standardIssues(issues: readonly unknown[]): string {
  const told = issues.slice(0, maxIssues).map((issue) => {
    const { message, path } = Object(issue) as { readonly message?: unknown; readonly path?: unknown }
    const keys = Array.isArray(path) ? path.map((part: unknown) => keyOf(part)) : []
    const text = typeof message === 'string' ? message : 'does not fit'
    return keys.length === 0 ? text : `${valuePath(keys)}: ${text}`
  })
  const left = issues.length - told.length
  return left > 0 ? `${told.join('; ')}; and ${left} more` : told.join('; ')
}

/** Of a part of a path: a key, or what has it. */
function keyOf(part: unknown): PropertyKey {
  const key: unknown = typeof part === 'object' && part !== null && 'key' in part ? part.key : part
  return typeof key === 'number' || typeof key === 'symbol' ? key : String(key)
}

function describe(issue: Issue): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${valuePath([...issue.path, key])}: no such field is known`)
  }
  const field = valuePath(issue.path)
  return [field === '' ? reason(issue) : `${field}: ${reason(issue)}`]
}

function reason(issue: Issue): string {
  const branches = issue.code === 'invalid_union' ? issue.errors.filter((branch) => branch.length > 0) : []
  if (branches.length > 0) return branches.map((branch) => branch.flatMap(describe).join(', ')).join(', or ')
  return issue.message.replace(/^Invalid input: /, '')
}

/** The path to a nested value, as a program writes it: `rows[0].size`. Empty for the outermost value. */
export function valuePath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`
    else if (typeof key === 'string' && !/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) text += `[${JSON.stringify(key)}]`
    else text += text === '' ? String(key) : `.${String(key)}`
  }
  return text
}

/** A checker, or why the schema has none. */
const compiled = new WeakMap<object, z.ZodType | string>()

/**
 * What is wrong with a value under a JSON Schema, in one line; `undefined` if nothing. An unreadable schema rejects
 * every value.
 */
export function checkJson(schema: object, value: Json): string | undefined {
  let type = compiled.get(schema)
  if (type === undefined) compiled.set(schema, (type = compile(schema)))
  if (typeof type === 'string') return type
  try {
    const result = type.safeParse(value)
    return result.success ? undefined : schemaIssues(result.error)
  } catch (error) {
    if (error instanceof RangeError) return endless
    throw error
  }
}

/** A part of the schema is itself, such as `{ $ref: '#' }`. */
const endless = 'its JSON Schema cannot be read (it refers to itself without end)'

/** Why a JSON Schema cannot be read, if it cannot. */
export function schemaFault(schema: object): string | undefined {
  const type = compile(schema)
  if (typeof type === 'string') return type
  return checkJson(schema, {}) === endless ? endless : undefined
}

function compile(schema: object): z.ZodType | string {
  try {
    return z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema)
  } catch (error) {
    return `its JSON Schema cannot be read (${(error as Error).message})`
  }
}
