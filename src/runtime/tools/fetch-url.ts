import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool } from '../../tools/port.ts'
import type { ToolSettings } from './settings.ts'

const fetchSchema = () =>
  z.strictObject({
    url: z.string().min(1).max(10_000),
    maxChars: z.int().min(1).max(50_000).default(8_000),
  })

/** The tool `fetch_url`: the text of a page of the public internet. */
export function fetchUrlTool(settings: ToolSettings): Tool {
  return defineTool({
    name: 'fetch_url',
    description: 'Gives the text of an http: or https: URL; HTML becomes text with links.',
    input: fetchSchema(),
    restart: 'pure',
    category: 'web',
    operation: 'read',
    paths: [],
    run: async (input, context) => (await import('./fetch-text.ts')).fetchText(input, settings, context),
  })
}
