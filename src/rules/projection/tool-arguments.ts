import type { ToolCallBlock } from '../../protocol/message.ts'
import { canonicalOrNone, maxDepth } from '../../world/canonical.ts'
import type { Json } from '../../world/json.ts'

/** Arguments are stored within a message, an outcome, an input: so many levels are kept free for those. */
const outerLevels = 16

type Arguments = Pick<ToolCallBlock, 'arguments' | 'malformed'>

/**
 * Reads the arguments that a model wrote. No text at all stands for no arguments; anything but a JSON object that a World can
 * hold is kept raw.
 *
 * @param isCut the reply was cut at the token limit here: no text at all is then malformed, too. @default false
 */
export function readArguments(raw: string, isCut = false): Arguments {
  if (raw.trim() === '') return isCut ? { arguments: {}, malformed: '' } : { arguments: {} }
  const value = canonicalOrNone(parsed(raw), outerLevels)
  return isJsonObject(value) ? { arguments: value } : { arguments: {}, malformed: raw.toWellFormed() }
}

/** What is wrong with arguments that could not be read, for the model that wrote them. */
export function argumentsProblem(malformed: string): string {
  if (!isWholeObject(malformed)) return 'what came is no JSON object.'
  return (
    `they must nest at most ${maxDepth - outerLevels} levels deep, and have no number beyond 1.8e308. ` +
    'Write deep structures and larger numbers as text.'
  )
}

/** The arguments as text, for wire forms that send them so: what a model wrote malformed goes back as it wrote it. */
export function writeArguments(call: ToolCallBlock): string {
  return call.malformed || JSON.stringify(call.arguments)
}

/** Is a text a complete JSON object? */
export function isWholeObject(raw: string): boolean {
  const value = raw.trim() === '' ? undefined : parsed(raw)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw)
  } catch {
    return undefined
  }
}

function isJsonObject(value: Json | undefined): value is ToolCallBlock['arguments'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
