import type { CallToolResult, ReadResourceResult } from '@modelcontextprotocol/client'
import type { FileBlock, TextBlock } from '../../protocol/message.ts'
import { fileForm } from '../../rules/media/file-form.ts'
import { checkJson, schemaFault } from '../../rules/text/schema-issues.ts'
import { cleanName, cleanText } from '../../tools/files/clean-text.ts'
import type { ConfinedProgram } from '../sandbox/port.ts'
import type { ToolOutput } from '../../tools/port.ts'
import type { Json, JsonObject } from '../../base/json.ts'

type Block = TextBlock | FileBlock

/** Characters of a file's Base64; of a longer one only a note is passed on. */
const maxFileChars = 7_000_000
const maxFiles = 20
/** Media types that models' providers take. */
const shownTypes = /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/

/** The answer to a call as a model reads it: its content, or the value where it is JSON. */
export function callOutput(
  { content, isError, structuredContent }: CallToolResult,
  outputSchema: JsonObject | undefined,
): ToolOutput | Json {
  const blocks = blocksOf(content.map(blockOf))
  if (isError === true) return { content: blocks, isError }
  if (structuredContent === undefined) {
    if (outputSchema === undefined) return { content: blocks }
    return misfit('it has no structured content')
  }
  const value = structuredContent as Json
  const wrong = outputSchema === undefined ? undefined : misfitOf(outputSchema, value)
  if (wrong !== undefined) return misfit(wrong)
  const others = blocks.filter((block) => block.type === 'file' || !isJsonOf(block.text, value))
  if (others.length === 0) return value
  return { content: [...others, { type: 'text', text: JSON.stringify(value) }] }
}

/** The same, with what the sandbox of its server has stopped, where that shows. */
export async function withStopped(
  output: ToolOutput | Json,
  confined: ConfinedProgram | undefined,
): Promise<ToolOutput | Json> {
  if (confined === undefined || !isOutput(output)) return output
  const { content, isError = false } = output
  const texts = content.map((block) => (block.type === 'text' ? block.text : ''))
  const stopped = await confined.stopped(texts.join('\n'), isError)
  return stopped === undefined ? output : { ...output, content: [...content, { type: 'text', text: `\n${stopped}` }] }
}

function isOutput(output: ToolOutput | Json): output is ToolOutput {
  return typeof output === 'object' && output !== null && 'content' in output && Array.isArray(output.content)
}

/** What a resource holds. */
export function resourceOutput({ contents }: ReadResourceResult): ToolOutput {
  return { content: blocksOf(contents.map((resource) => blockOf({ type: 'resource', resource }))) }
}

/** A schema that cannot be read checks nothing. */
function misfitOf(schema: JsonObject, value: Json): string | undefined {
  return schemaFault(schema) === undefined ? checkJson(schema, value) : undefined
}

function misfit(wrong: string): ToolOutput {
  const text = `Error: The tool ran, but its result does not fit what its server declared: ${wrong}.`
  return { content: [{ type: 'text', text }], isError: true }
}

function isJsonOf(text: string, value: Json): boolean {
  try {
    return JSON.stringify(sorted(JSON.parse(text) as Json)) === JSON.stringify(sorted(value))
  } catch {
    return false
  }
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as JsonObject).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item as Json)]))
}

function blocksOf(blocks: readonly Block[]): readonly Block[] {
  let files = 0
  return blocks.map((block) => (block.type === 'file' && ++files > maxFiles ? note('a further file') : block))
}

function blockOf(block: CallToolResult['content'][number]): Block {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: cleanText(block.text) }
    case 'image':
    case 'audio':
      return fileOf(block.data, block.mimeType)
    case 'resource_link': {
      const { description, mimeType, name, uri } = block
      const words = [name, `<${uri}>`, mimeType, description].filter((word) => word !== undefined)
      return { type: 'text', text: `[resource ${words.map(cleanName).join(' ')}]` }
    }
    case 'resource': {
      const { resource } = block
      if ('text' in resource) return { type: 'text', text: `[${cleanName(resource.uri)}]\n${cleanText(resource.text)}` }
      return fileOf(resource.blob, resource.mimeType ?? 'application/octet-stream', resource.uri)
    }
    default:
      return note('content of a kind that is not known')
  }
}

/** A file as what its bytes are: servers label them wrongly, and wrap them. */
function fileOf(data: string, mediaType: string, name?: string): Block {
  const label = cleanName(mediaType)
  const size = `${label}, ${Math.floor((data.length * 3) / 4)} bytes`
  if (data.length > maxFileChars) return note(size)
  const form = fileForm({ type: 'file', mediaType, data })
  const title = name === undefined ? undefined : cleanName(name)
  switch (form.kind) {
    case 'broken':
      return note(`${size}: ${form.problem}`)
    case 'text':
      return { type: 'text', text: `[${title ?? form.mediaType}]\n${cleanText(form.text)}` }
    case 'image':
    case 'pdf':
      if (!shownTypes.test(form.mediaType)) return note(size)
      return { type: 'file', mediaType: form.mediaType, data: form.data, ...(title !== undefined && { name: title }) }
    default:
      return note(size)
  }
}

function note(what: string): TextBlock {
  return { type: 'text', text: `[not shown: ${what}]` }
}
