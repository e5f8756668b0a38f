import { z } from 'zod'
import { ToolMessage } from '../protocol/message.ts'
import { lazily } from '../world/lazily.ts'
import { cutText } from '../rules/text/cut-text.ts'
import { jsonText, NotJson } from './json-text.ts'
import type { ToolOutput } from './port.ts'
import { schemaIssues } from '../rules/text/schema-issues.ts'

/** Characters of text in one result, unless the tool has its own limit. */
export const standardMaxResultChars = 50_000

/** Replaces an empty result. */
const noOutput = '[no output]'

const outputSchema = lazily(() =>
  z.strictObject({ content: ToolMessage().shape.content, isError: z.boolean().optional() }),
)
type Block = z.infer<ReturnType<typeof outputSchema>>['content'][number]

/**
 * Converts a handler's result: text and `ToolOutput` unchanged, any other value as compact JSON. Text past `maxChars`, over all
 * blocks, is replaced by a note of its length. A value that JSON cannot express gives an error output with its path.
 */
export function toolOutput(result: unknown, maxChars: number = standardMaxResultChars): ToolOutput {
  if (result === undefined) return capped([textBlock('')], maxChars)
  if (typeof result === 'string') return capped([textBlock(result)], maxChars)
  if (isOutputLike(result)) {
    const output = outputSchema().safeParse(result)
    if (!output.success)
      return errorOutput(`The tool ran, but its result is malformed: ${schemaIssues(output.error)}.`, maxChars)
    return capped(output.data.content, maxChars, output.data.isError)
  }
  try {
    // One more character, so that the cut does not split a surrogate pair.
    const { text, lengthChars } = jsonText(result, maxChars + 1)
    return capped([textBlock(text)], maxChars, false, lengthChars - text.length)
  } catch (error) {
    if (!(error instanceof NotJson)) throw error
    return errorOutput(`The tool ran, but its result is no JSON: ${error.message}.`, maxChars)
  }
}

/** `Error: ` and the message. */
export function errorOutput(message: string, maxChars: number = standardMaxResultChars): ToolOutput {
  return capped([textBlock(`Error: ${message}`)], maxChars, true)
}

function textBlock(text: string): Block {
  return { text, type: 'text' }
}

/** A `ToolOutput`, even malformed, but not data that happens to have a field `content`. */
function isOutputLike(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('content' in value) || !Array.isArray(value.content))
    return false
  if (Object.keys(value).some((key) => key !== 'content' && key !== 'isError')) return false
  return value.content.every((block: unknown) => {
    return (
      typeof block === 'object' && block !== null && 'type' in block && (block.type === 'text' || block.type === 'file')
    )
  })
}

/** Providers refuse empty texts. `leftOut`: characters dropped before. */
function capped(blocks: readonly Block[], maxChars: number, isError = false, leftOut = 0): ToolOutput {
  const content: Block[] = []
  let room = maxChars
  for (const block of blocks) {
    if (block.type === 'file') {
      content.push(block)
      continue
    }
    const text = cutText(block.text, room)
    leftOut += block.text.length - text.length
    room = leftOut > 0 ? 0 : room - text.length
    if (text !== '') content.push(textBlock(text === block.text ? text.toWellFormed() : detached(text)))
  }
  if (leftOut > 0) addNote(content, `[${leftOut} characters left out]`)
  if (content.length === 0) content.push(textBlock(noOutput))
  return isError ? { content, isError } : { content }
}

function addNote(content: Block[], note: string): void {
  const last = content.at(-1)
  if (last?.type === 'text') content[content.length - 1] = textBlock(`${last.text}\n${note}`)
  else content.push(textBlock(note))
}

/** A well-formed copy: a slice would keep the whole string in memory. */
function detached(text: string): string {
  return Buffer.from(text).toString()
}
