import { z } from 'zod'
import { FileFact } from '../protocol/file-fact.ts'
import { ToolMessage } from '../protocol/message.ts'
import { inlineOrHandle, storedText } from '../rules/handles/inline-or-handle.ts'
import { shapeOf } from '../rules/handles/shape-of.ts'
import { lazily } from '../base/lazily.ts'
import type { Json } from '../base/json.ts'
import { cutText } from '../base/cut-text.ts'
import { jsonText, NotJson } from './json-text.ts'
import type { HandleStore, ToolOutput } from './port.ts'
import { schemaIssues } from '../rules/text/schema-issues.ts'

/** Characters of text in one result, unless the tool has its own limit. */
export const standardMaxResultChars = 50_000

/** Longest text of a result that a handle keeps, in characters. */
const maxHandleChars = 10_000_000

/** Replaces an empty result. */
export const noOutput = '[no output]'

const outputSchema = lazily(() =>
  z.strictObject({
    content: ToolMessage().shape.content,
    isError: z.boolean().optional(),
    files: z.array(FileFact()).max(1_000).optional(),
  }),
)
type Block = z.infer<ReturnType<typeof outputSchema>>['content'][number]

/**
 * Converts a handler's result: text and `ToolOutput` unchanged, any other value as compact JSON. Text past `maxChars`, over all
 * blocks, is replaced by a note of its length. A value that JSON cannot express gives an error output with its path.
 */
export function toolOutput(result: unknown, maxChars: number = standardMaxResultChars): ToolOutput {
  return output(rawOutput(result, maxChars), maxChars)
}

/**
 * Like `toolOutput`, and keeps under handles what the model cannot read: the whole text of a result past `maxChars`, and JSON
 * that `inlineOrHandle` sends there. What cannot be kept is cut without a handle.
 */
export async function keptOutput(
  result: unknown,
  handles: HandleStore,
  maxChars: number = standardMaxResultChars,
): Promise<ToolOutput> {
  if (!handles.isReadable) return toolOutput(result, maxChars)
  const raw = rawOutput(result, maxHandleChars)
  const value = jsonOf(raw)
  if (value !== undefined && inlineOrHandle(value) === 'handle') {
    const handle = await kept(handles, value)
    if (handle !== undefined) return output({ blocks: [textBlock(storedText(shapeOf(value), handle))] }, maxChars)
  }
  const texts = raw.blocks.flatMap((block) => (block.type === 'text' ? block.text : []))
  const lengthChars = texts.reduce((chars, text) => chars + text.length, raw.leftOut ?? 0)
  if (lengthChars <= maxChars) return output(raw, maxChars)
  const where = await keptText(handles, value ?? texts.join('\n'))
  return output(raw, maxChars, where && { ...where, isWhole: where.isWhole && raw.leftOut === undefined })
}

/** Keeps what a result is too short for, up to 10,000,000 characters. `undefined`: the model cannot read it, or it cannot be kept. */
export async function keptText(handles: HandleStore | undefined, whole: Json): Promise<KeptText | undefined> {
  if (handles?.isReadable !== true) return undefined
  const part = typeof whole === 'string' ? cutText(whole, maxHandleChars) : whole
  const handle = await kept(handles, part)
  const chars = typeof part === 'string' ? part.length : 0
  return handle === undefined ? undefined : { handle, chars, isWhole: part === whole }
}

/** `Error: ` and the message. */
export function errorOutput(message: string, maxChars: number = standardMaxResultChars): ToolOutput {
  return output({ blocks: [textBlock(`Error: ${message}`)], isError: true }, maxChars)
}

/** Says how much is missing, and where it is. */
export function leftOutNote(count: number, where?: KeptText): string {
  const missing = `${count} characters left out`
  if (where === undefined) return missing
  return where.isWhole
    ? `${missing}; all of it: ${where.handle}`
    : `${missing}; the first ${where.chars} characters: ${where.handle}`
}

/** A text that a handle keeps. */
export interface KeptText {
  readonly handle: string
  readonly chars: number
  /** Nothing of it is missing. */
  readonly isWhole: boolean
}

/** A result is not lost because the disk is full. */
async function kept(handles: HandleStore, value: Json): Promise<string | undefined> {
  try {
    return await handles.keep(value)
  } catch {
    return undefined
  }
}

/** A result before it is cut. */
interface RawOutput {
  readonly blocks: readonly Block[]
  readonly isError?: boolean | undefined
  readonly files?: ToolOutput['files']
  /** The blocks are the JSON of a value. */
  readonly isJson?: true
  /** Characters behind the blocks. */
  readonly leftOut?: number
}

function rawOutput(result: unknown, maxChars: number): RawOutput {
  if (result === undefined) return { blocks: [textBlock('')] }
  if (typeof result === 'string') return { blocks: [textBlock(result)] }
  if (isOutputLike(result)) {
    const checked = outputSchema().safeParse(result)
    if (checked.success) {
      const { content: blocks, files, isError } = checked.data
      return { blocks, files, isError }
    }
    return failed(`The tool ran, but its result is malformed: ${schemaIssues(checked.error)}.`)
  }
  try {
    // One more character, so that the cut does not split a surrogate pair.
    const { text, lengthChars } = jsonText(result, maxChars + 1)
    const leftOut = lengthChars - text.length
    return { blocks: [textBlock(text)], isJson: true, ...(leftOut > 0 && { leftOut }) }
  } catch (error) {
    if (!(error instanceof NotJson)) throw error
    return failed(`The tool ran, but its result is no JSON: ${error.message}.`)
  }
}

function failed(message: string): RawOutput {
  return { blocks: [textBlock(`Error: ${message}`)], isError: true }
}

/** A whole JSON value. */
function jsonOf({ blocks: [block], isJson, leftOut }: RawOutput): Json | undefined {
  if (isJson !== true || leftOut !== undefined || block?.type !== 'text') return undefined
  return JSON.parse(block.text) as Json
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

/** Cuts a result. Providers refuse empty texts. */
function output({ blocks, files, isError, leftOut = 0 }: RawOutput, maxChars: number, where?: KeptText): ToolOutput {
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
  if (leftOut > 0) addNote(content, `[${leftOutNote(leftOut, where)}]`)
  if (content.length === 0) content.push(textBlock(noOutput))
  return { content, ...(isError === true && { isError }), ...(files !== undefined && { files }) }
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
