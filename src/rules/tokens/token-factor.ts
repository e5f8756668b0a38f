import type { CountedCalls } from '../../../components/money/token-factors.ts'
import { parseModel } from '../projection/model-name.ts'

/** So many calls of a model say what its factor is. */
export const maxCountedCalls = 20
/** A shorter request says little: what a provider adds of its own weighs too much in it. */
const minRawTokens = 500
const leastFactor = 0.5
export const greatestFactor = 3
/** Of a model that counts with the same vocabulary, or a close one. */
const factorOfKin = 1
const factorOfOthers = 1.25

/**
 * How many tokens a model's provider finds for one that is counted here: all of its newest calls taken together, from 0.5
 * to 3. Before the first call it is 1 for OpenAI's models and 1.25 for others.
 *
 * @param model `provider/model`, or the model alone
 */
export function factorOf(model: string, data: CountedCalls | undefined): number {
  let provided = 0
  let counted = 0
  for (const [promptTokens = 0, rawTokens = 0] of data?.calls ?? []) {
    provided += promptTokens
    counted += rawTokens
  }
  if (counted === 0) return isKin(model) ? factorOfKin : factorOfOthers
  return Math.min(greatestFactor, Math.max(leastFactor, provided / counted))
}

/**
 * What is known of a model with an own call of it more.
 *
 * @param promptTokens as its provider said, if it did
 * @param rawTokens the raw count of the same request, system prompt and tools included
 * @returns `undefined` if the call says nothing: what was known stays
 */
export function noteCall(
  data: CountedCalls | undefined,
  promptTokens: number | undefined,
  rawTokens: number,
): CountedCalls | undefined {
  if (promptTokens === undefined || rawTokens < minRawTokens) return undefined
  return { calls: [...(data?.calls ?? []), [promptTokens, rawTokens]].slice(-maxCountedCalls) }
}

function isKin(name: string): boolean {
  const model = parseModel(name).model.toLowerCase()
  return model.includes('gpt') || /^o[134]/.test(model)
}
