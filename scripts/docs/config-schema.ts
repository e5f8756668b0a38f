import { z } from 'zod'
import { isPlain, snakeCase } from '../../src/rules/config/check-settings.ts'
import { RuntimeConfigSchema } from '../../src/runtime/config/runtime-config.ts'

/** The JSON Schema of configuration files, for editors: each key in both spellings. */
export function configSchema(): string {
  const schema = z.toJSONSchema(RuntimeConfigSchema(), { io: 'input', target: 'draft-7' })
  const titled = { ...schema, title: 'Configuration of Entia' }
  return `${JSON.stringify(inBothSpellings(titled), null, 2)}\n`
}

function inBothSpellings(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inBothSpellings)
  if (!isPlain(value)) return value
  const { properties, ...rest } = value
  const entries = Object.entries(rest).map(([key, inner]) => [key, inBothSpellings(inner)] as const)
  if (!isPlain(properties)) return Object.fromEntries(entries)
  const keys = Object.entries(properties).flatMap(([key, inner]) => {
    const schema = inBothSpellings(inner)
    return [...new Set([key, snakeCase(key)])].map((spelling) => [spelling, schema] as const)
  })
  return { ...Object.fromEntries(entries), properties: Object.fromEntries(keys) }
}
