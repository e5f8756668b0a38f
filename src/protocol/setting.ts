import { z } from 'zod'

// Schemas of settings, each with words for what it expects: a refusal says them, and a JSON Schema describes with them.

export const flag = () => z.boolean().describe('true or false')

export const whole = (min: number) => z.number().int().min(min).describe(`an integer ≥ ${min}`)

export const positive = (max?: number) => {
  const number = z.number().gt(0)
  return max === undefined
    ? number.describe('a finite number above 0')
    : number.max(max).describe(`a number above 0, at most ${max}`)
}

/** Fullness of a context window. */
export const fraction = () => z.number().gt(0).lt(1).describe('a number above 0 and below 1')

export const oneOf = <const Names extends readonly [string, ...string[]]>(...names: Names) =>
  z.enum(names).describe(`${names.slice(0, -1).join(', ')} or ${names.at(-1)}`)

export const modelName = () =>
  z
    .string()
    .regex(/^\S(?:.*\S)?$/)
    .describe("a model's name")
