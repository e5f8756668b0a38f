import { z } from 'zod'

/** What a schema is for: a section has keys of its own, a table has keys that are data. */
export type SettingKind =
  | { readonly kind: 'section'; readonly settings: Readonly<Record<string, z.core.$ZodType>> }
  | { readonly kind: 'table'; readonly keys: z.core.$ZodType; readonly values: z.core.$ZodType }
  | { readonly kind: 'value'; readonly expected: string }

/** Looks through what makes a schema optional, gives it a default or lets it be `null`. */
export function settingKind(schema: z.core.$ZodType): SettingKind {
  const { def } = (schema as z.core.$ZodTypes)['_zod']
  switch (def.type) {
    case 'default':
    case 'prefault':
    case 'optional':
      return settingKind(def.innerType)
    case 'nullable': {
      const inner = settingKind(def.innerType)
      return inner.kind === 'value' ? { kind: 'value', expected: `${inner.expected}, or null` } : inner
    }
    case 'object':
      return { kind: 'section', settings: def.shape }
    case 'record':
      return { kind: 'table', keys: def.keyType, values: def.valueType }
    default:
      return { kind: 'value', expected: expectedBy(schema) }
  }
}

/** What a schema that was described expects, in words. */
export function expectedBy(schema: z.core.$ZodType): string {
  return z.globalRegistry.get(schema)?.description ?? 'another value'
}

/** Is it an object of plain data, as JSON has them? */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
