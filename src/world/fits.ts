import type { z } from 'zod'
import { isIndex } from './canonical.ts'
import type { Json, JsonObject } from '../base/json.ts'

type Test = (value: Json | undefined) => boolean
type Schema = z.core.$ZodTypes

const isAnything: Test = () => true
const isText: Test = (value) => typeof value === 'string'

const tests = new WeakMap<z.core.$ZodType, Test | undefined>()
/** `null`: not made yet. */
const testsOfComponents: (Test | undefined | null)[] = []

interface Schematic {
  readonly index: number
  readonly schema: z.ZodType
}

/** Like `fits`, cached by component. */
export function fitsComponent(token: Schematic, value: Json): boolean {
  const { index } = token
  while (testsOfComponents.length <= index) testsOfComponents.push(null)
  let test = testsOfComponents[index]
  if (test === null) testsOfComponents[index] = test = testOf(token.schema)
  return test !== undefined && test(value)
}

/** Whether a plain schema surely accepts a canonical value as it stands, much faster than zod. `false`: ask zod. */
export function fits(schema: z.core.$ZodType, value: Json): boolean {
  return testOf(schema)?.(value) === true
}

function testOf(schema: z.core.$ZodType): Test | undefined {
  const known = tests.get(schema)
  if (known !== undefined || tests.has(schema)) return known
  const test = made(schema as Schema)
  tests.set(schema, test)
  return test
}

/** None for schemas that change values, or have unknown conditions. */
function made({ _zod: { def } }: Schema): Test | undefined {
  if (def.type === 'number') return numberTest(def)
  const test = plainTest(def)
  if (test === undefined || def.checks === undefined || def.checks.length === 0) return test
  const conditions = def.checks.map(({ _zod: { def: asked } }) => conditionOf(asked as Condition))
  if (!conditions.every((condition) => condition !== undefined)) return undefined
  return (value) => test(value) && conditions.every((condition) => condition(value))
}

function plainTest(def: Schema['_zod']['def']): Test | undefined {
  switch (def.type) {
    case 'any':
      return isAnything
    case 'boolean':
      return def.coerce === true ? undefined : (value) => typeof value === 'boolean'
    case 'string':
      return def.coerce === true || 'format' in def ? undefined : isText
    case 'literal':
      return (value) => def.values.includes(value as never)
    case 'enum':
      return enumTest(Object.values(def.entries))
    case 'optional':
      return orElse(undefined, testOf(def.innerType))
    case 'nullable':
      return orElse(null, testOf(def.innerType))
    // What is there stands as it is. What is absent would be filled in: as a field, it is one that is wanting.
    case 'default':
    case 'prefault':
      return testOf(def.innerType)
    case 'array':
      return arrayTest(testOf(def.element))
    case 'tuple':
      return def.rest === null ? tupleTest(def.items.map(testOf)) : undefined
    case 'pipe':
      return bothTests(testOf(def.in), testOf(def.out))
    case 'record':
      return recordTest(def.keyType as Schema, testOf(def.valueType))
    case 'union':
      return isChoice(def) ? choiceTest(def) : unionTest(def.options.map(testOf))
    case 'object':
      return objectTest(def)
    case 'custom':
      return conditionOf(def)
    default:
      return undefined
  }
}

type Condition = z.core.$ZodChecks['_zod']['def'] | z.core.$ZodCustomDef

/** For values of the right type. Anything unmet or unclear is left to zod. */
function conditionOf(asked: Condition): Test | undefined {
  switch (asked.check) {
    case 'min_length':
      return (value) => lengthOf(value) >= asked.minimum
    case 'max_length':
      return (value) => lengthOf(value) <= asked.maximum
    case 'string_format':
      return asked.format === 'regex' ? patternTest(asked.pattern) : undefined
    case 'custom':
      return typeof asked.fn === 'function' ? (value) => asked.fn(value) === true : undefined
    default:
      return undefined
  }
}

function lengthOf(value: Json | undefined): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : NaN
}

/** Stateful patterns have no test. */
function patternTest(pattern: RegExp | undefined): Test | undefined {
  if (pattern === undefined || pattern.global || pattern.sticky) return undefined
  return (value) => typeof value === 'string' && pattern.test(value)
}

function numberTest({ checks = [], ...def }: z.core.$ZodNumberDef): Test | undefined {
  if (def.coerce === true || 'format' in def) return undefined
  let least = -Infinity
  let above = -Infinity
  let most = Infinity
  let below = Infinity
  let isWhole = false
  for (const check of checks) {
    const { def: asked } = (check as z.core.$ZodChecks)['_zod']
    if (asked.check === 'number_format' && asked.format === 'safeint') isWhole = true
    else if (asked.check !== 'greater_than' && asked.check !== 'less_than') return undefined
    else if (typeof asked.value !== 'number') return undefined
    else if (asked.check === 'greater_than' && asked.inclusive) least = Math.max(least, asked.value)
    else if (asked.check === 'greater_than') above = Math.max(above, asked.value)
    else if (asked.inclusive) most = Math.min(most, asked.value)
    else below = Math.min(below, asked.value)
  }
  return (value) => {
    if (typeof value !== 'number' || !(isWhole ? Number.isSafeInteger(value) : Number.isFinite(value))) return false
    return value >= least && value > above && value <= most && value < below
  }
}

function enumTest(entries: readonly unknown[]): Test | undefined {
  // Entries that are numbers may stand for the names of others.
  if (!entries.every((entry) => typeof entry === 'string')) return undefined
  return (value) => entries.includes(value as string)
}

function orElse(other: null | undefined, test: Test | undefined): Test | undefined {
  return test && ((value) => value === other || test(value))
}

function arrayTest(test: Test | undefined): Test | undefined {
  return test && ((value) => Array.isArray(value) && value.every((item: Json) => test(item)))
}

function bothTests(first: Test | undefined, second: Test | undefined): Test | undefined {
  return first && second && ((value) => first(value) && second(value))
}

function tupleTest(items: readonly (Test | undefined)[]): Test | undefined {
  const known = items.filter((test) => test !== undefined)
  if (known.length < items.length) return undefined
  return (value) => Array.isArray(value) && value.length === known.length && known.every((test, at) => test(value[at]))
}

function recordTest({ _zod: { def: key } }: Schema, test: Test | undefined): Test | undefined {
  const keyTest = key.type === 'string' ? made({ _zod: { def: key } } as Schema) : undefined
  if (test === undefined || keyTest === undefined) return undefined
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    const fields = value as JsonObject
    // A key of that name is left out by zod.
    for (const name in fields) if (name === '__proto__' || !keyTest(name) || !test(fields[name])) return false
    return true
  }
}

function isChoice(def: z.core.$ZodUnionDef): def is z.core.$ZodDiscriminatedUnionDef {
  return 'discriminator' in def
}

/** By the literal text of its discriminator. */
function choiceTest({ discriminator, options }: z.core.$ZodDiscriminatedUnionDef): Test | undefined {
  const byText = new Map<Json | undefined, Test>()
  for (const option of options) {
    const { def } = (option as Schema)['_zod']
    const field = def.type === 'object' ? (def.shape[discriminator] as Schema | undefined)?.['_zod'].def : undefined
    const test = testOf(option)
    if (field?.type !== 'literal' || test === undefined) return unionTest(options.map((each) => testOf(each)))
    for (const text of field.values) byText.set(text as Json, test)
  }
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    return byText.get((value as JsonObject)[discriminator])?.(value) === true
  }
}

/** None changes its value, so the order does not matter. */
function unionTest(options: readonly (Test | undefined)[]): Test | undefined {
  const known = options.filter((test) => test !== undefined)
  return known.length < options.length ? undefined : (value) => known.some((test) => test(value))
}

/** For strict objects. Keys of a canonical value are sorted, and so are the fields: both are walked in step. */
function objectTest({ shape, catchall }: z.core.$ZodObjectDef): Test | undefined {
  if (typeOf(catchall) !== 'never') return undefined
  const names = Object.keys(shape).sort()
  const fields: Test[] = []
  const isRequired: boolean[] = []
  for (const name of names) {
    const schema = shape[name] as z.core.$ZodType
    // What a canonical object has is never `undefined`.
    const test = testOf(presentOf(schema as Schema))
    if (test === undefined || isIndex(name)) return undefined
    fields.push(test)
    isRequired.push(typeOf(schema) !== 'optional')
  }
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    const object = value as JsonObject
    let at = 0
    for (const name in object) {
      while (at < names.length && names[at] !== name) if (isRequired[at++] === true) return false
      const test = fields[at++]
      if (test === undefined) return false
      // What most fields are is asked without a call.
      if (test === isText ? typeof object[name] !== 'string' : test !== isAnything && !test(object[name])) return false
    }
    while (at < names.length) if (isRequired[at++] === true) return false
    return true
  }
}

function presentOf(schema: Schema): z.core.$ZodType {
  const { def } = schema['_zod']
  return def.type === 'optional' ? def.innerType : schema
}

function typeOf(schema: z.core.$ZodType | undefined): string | undefined {
  return schema?.['_zod'].def.type
}
