import type { ToolCallBlock } from '../../components/message.ts'

/**
 * Reads the arguments that a model wrote. No text at all stands for no arguments; anything but a JSON object is kept
 * raw.
 *
 * @param isCut the reply was cut at the token limit here: no text at all is then malformed, too. @default false
 */
export function readArguments(raw: string, isCut = false): Pick<ToolCallBlock, 'arguments' | 'malformed'> {
  if (raw.trim() === '') return isCut ? { arguments: {}, malformed: '' } : { arguments: {} }
  try {
    const value: unknown = JSON.parse(raw)
    if (isJsonObject(value)) return { arguments: value }
  } catch {
    // Not JSON at all: kept raw, as any other text that is no object.
  }
  return { arguments: {}, malformed: raw }
}

/** The arguments as text, for wire forms that send them so: what a model wrote malformed goes back as it wrote it. */
export function writeArguments(call: ToolCallBlock): string {
  return call.malformed || JSON.stringify(call.arguments)
}

/** Is a text a complete JSON object? */
export function isWholeObject(raw: string): boolean {
  return raw.trim() !== '' && readArguments(raw).malformed === undefined
}

/** Only for what came out of `JSON.parse`, where an object can hold nothing but JSON. */
function isJsonObject(value: unknown): value is ToolCallBlock['arguments'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
