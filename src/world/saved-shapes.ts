import { z } from 'zod'
import { canonical } from './canonical.ts'
import type { Delta } from './changes.ts'
import type { EntiaError } from '../base/entia-error.ts'
import { fits } from './fits.ts'
import type { Input, WorldEvent } from './input.ts'
import type { Json } from '../base/json.ts'
import { lazily } from '../base/lazily.ts'

/** A valid checksum proves no snapshot or journal, so saved data is checked against these shapes first. */
const shapes = lazily(() => {
  const entity = z.number().int().min(1)
  const count = z.number().int().min(0)
  const bits = z
    .number()
    .int()
    .min(0)
    .max(2 ** 32 - 1)
  const json = z.any()
  const items = z.array(json)
  const header = {
    tick: count,
    nowMs: z.number().min(0),
    dateOffsetMs: z.number(),
    next: entity,
    ids: count,
    random: z.tuple([bits, bits, bits, bits]),
    run: z.string().min(1).optional(),
  }
  const name = z.string().regex(/^[A-Z][A-Za-z0-9]*$/)
  const byComponent = <T extends z.ZodType>(row: T) => z.record(name, z.array(row)).optional()
  const changes = {
    spawned: z.array(entity).optional(),
    despawned: z.array(entity).optional(),
    set: byComponent(z.tuple([entity, json])),
    appended: byComponent(z.tuple([entity, items])),
    spliced: byComponent(z.tuple([entity, z.array(z.tuple([count, count, items]))])),
    removed: byComponent(entity),
  }
  const versions = z.record(name, z.number().int().min(1))
  const input = z.custom<Input>((value) => hasText(value, 'kind'), 'expected an object with a text in kind')
  const event = z.custom<WorldEvent>((value) => hasText(value, 'type'), 'expected an object with a text in type')
  return {
    head: z.strictObject({
      entia: count,
      name: z.string(),
      seed: count,
      components: versions,
      header: z.strictObject(header),
      inbox: z.array(input),
    }),
    entity: z.strictObject({ entity, has: z.record(name, json) }),
    items: z.strictObject({ entity, log: name, more: items }),
    joint: z.strictObject({ chain: z.string(), events: z.array(event), version: z.string().min(1).optional() }),
    row: z.strictObject({
      i: z.array(input),
      d: json,
      e: z.array(event),
      w: z.record(z.string(), z.string()).optional(),
    }),
    delta: z.strictObject({ ...header, ...changes, versions: versions.optional() }),
    change: z.strictObject({ ...changes, kind: z.literal('change'), header: z.strictObject(header) }),
  }
})

function hasText(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[key] === 'string'
}

type Shapes = ReturnType<typeof shapes>

export type Corrupt = (problem: string) => EntiaError

/** Checks a canonical value against a shape. @throws what `corrupt` makes of the problem */
export function shaped<K extends keyof Shapes>(shape: K, value: Json, corrupt: Corrupt): z.output<Shapes[K]> {
  const schema: z.ZodType = shapes()[shape]
  const issue = fits(schema, value) ? undefined : schema.safeParse(value).error?.issues[0]
  if (issue === undefined) return value as z.output<Shapes[K]>
  const at = issue.path.length === 0 ? '' : `at ${issue.path.join('.')}: `
  throw corrupt(`${at}${issue.message}`)
}

export function parsedLine(line: string, corrupt: Corrupt): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(line)
    if (typeof parsed === 'object' && parsed !== null) return parsed as Readonly<Record<string, unknown>>
  } catch (error) {
    throw corrupt(`it is not JSON (${(error as Error).message})`)
  }
  throw corrupt('it is not a JSON object')
}

export function canonicalRead(read: unknown, corrupt: Corrupt): Json {
  try {
    return canonical(read, () => 'it', Infinity)
  } catch (error) {
    throw corrupt((error as EntiaError).message)
  }
}

const checked = new WeakSet<object>()

export function checkedDelta(given: unknown, corrupt: Corrupt): Delta {
  if (typeof given === 'object' && given !== null && checked.has(given)) return given as Delta
  const delta = shaped('delta', canonicalRead(given, corrupt), corrupt) as Delta
  checked.add(delta)
  return delta
}
