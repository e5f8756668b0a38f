import type { CallToolResult } from '@modelcontextprotocol/server'
import type { FileBlock } from '../../protocol/message.ts'
import type { DataOf } from '../../world/component.ts'
import type { ToolOutput } from '../../tools/port.ts'

type ContentBlock = CallToolResult['content'][number]

/** A tool's result as MCP has it: images and sounds as such, other files as resources. */
export function mcpResult({ content, isError }: ToolOutput): CallToolResult {
  return {
    content: content.map((block) => (block.type === 'text' ? { type: 'text', text: block.text } : fileContent(block))),
    ...(isError === true && { isError }),
  }
}

function fileContent({ data, mediaType, name, url }: DataOf<typeof FileBlock>): ContentBlock {
  if (data === undefined) {
    return { type: 'resource_link', uri: url ?? '', name: name ?? url ?? 'file', mimeType: mediaType }
  }
  if (mediaType.startsWith('image/')) return { type: 'image', data, mimeType: mediaType }
  if (mediaType.startsWith('audio/')) return { type: 'audio', data, mimeType: mediaType }
  const uri = url ?? `file:///${encodeURIComponent(name ?? 'file')}`
  const isText = mediaType.startsWith('text/') || mediaType === 'application/json'
  const body = isText ? { text: Buffer.from(data, 'base64').toString() } : { blob: data }
  return { type: 'resource', resource: { uri, mimeType: mediaType, ...body } }
}
