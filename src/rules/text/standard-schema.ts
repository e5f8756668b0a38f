import { shortly } from '../../base/known-options.ts'
import { standardIssues } from './schema-issues.ts'

/**
 * A schema of any maker that keeps to Standard Schema and Standard JSON Schema, such as a `type` of arktype, or a schema of valibot
 * in `toStandardJsonSchema` of `@valibot/to-json-schema`.
 *
 * @see https://standardschema.dev
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    /** Its maker. */
    readonly vendor: string
    /** Gives `{ value }` or `{ issues }`, now or later. */
    readonly validate: (value: unknown) => unknown
    readonly jsonSchema: {
      readonly input: (options: { readonly target: 'draft-2020-12' | 'draft-07' }) => Record<string, unknown>
    }
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** What a schema gives of a value that fits. */
export type StandardOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output']

/** What a schema makes of a value, or what is wrong with it, in one line. */
export type Validated = { readonly data: unknown } | { readonly problem: string }

/** Reads what `validate` of a schema has given. */
export function readValidated(result: unknown): Validated {
  const { issues, value } = Object(result) as { readonly issues?: unknown; readonly value?: unknown }
  return Array.isArray(issues) ? { problem: standardIssues(issues) } : { data: value }
}

export function isStandard(given: unknown): given is StandardSchema {
  return standardPart(given) !== undefined && standardProblem(given) === undefined
}

/** Why a schema that keeps to Standard Schema cannot be used; `undefined`: it can, or does not keep to it. */
export function standardProblem(given: unknown): string | undefined {
  const part = standardPart(given)
  if (part === undefined) return undefined
  const { jsonSchema, validate, vendor } = part
  if (typeof validate === 'function' && typeof Object(jsonSchema).input === 'function') return undefined
  const whose = typeof vendor === 'string' ? vendor : shortly(vendor)
  const advice = 'wrap it, as toStandardJsonSchema of @valibot/to-json-schema does'
  return `expected a schema that gives its JSON Schema, got one of ${whose} that does not: ${advice}`
}

function standardPart(given: unknown): Readonly<Record<string, unknown>> | undefined {
  const isThing = (typeof given === 'object' && given !== null) || typeof given === 'function'
  if (!isThing || !('~standard' in given)) return undefined
  const part: unknown = given['~standard']
  return typeof part === 'object' && part !== null ? (part as Readonly<Record<string, unknown>>) : undefined
}
