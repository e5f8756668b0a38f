import { z } from 'zod'

// Schemas of settings, each with words for what it expects: a refusal says them, and a JSON Schema describes with them.

/** A switch. */
export const flag = () => z.boolean().describe('true or false')

/** An integer from a minimum on. */
export const whole = (min: number) => z.number().int().min(min).describe(`an integer ≥ ${min}`)

/** A number above 0, optionally up to a maximum. */
export const positive = (max?: number) => {
  const number = z.number().gt(0)
  return max === undefined
    ? number.describe('a finite number above 0')
    : number.max(max).describe(`a number above 0, at most ${max}`)
}

/** How full a context window is: a share of it that is neither nothing nor all. */
export const fraction = () => z.number().gt(0).lt(1).describe('a number above 0 and below 1')

/** One of these words. */
export const oneOf = <const Names extends readonly [string, ...string[]]>(...names: Names) =>
  z.enum(names).describe(`${names.slice(0, -1).join(', ')} or ${names.at(-1)}`)

/** A model, as `provider/model` or by its bare name. */
export const modelName = () =>
  z
    .string()
    .regex(/^\S(?:.*\S)?$/)
    .describe("a model's name")
