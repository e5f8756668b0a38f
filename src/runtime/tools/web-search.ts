import { z } from 'zod'
import { schemaIssues } from '../../rules/text/schema-issues.ts'
import { cutText } from '../../base/cut-text.ts'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool, ToolContext, ToolOutput } from '../../tools/port.ts'
import { errorOutput } from '../../tools/tool-output.ts'
import type { ToolSettings } from './settings.ts'

const timeoutMs = 20_000
const maxErrorChars = 500

const searchSchema = () =>
  z.strictObject({
    query: z.string().min(1).max(1_000),
    max: z.int().min(1).max(20).default(5).describe('Most results.'),
  })

const answerSchema = () =>
  z.object({ results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string() })) })

/** The tool `web_search`: pages that Tavily finds, each with its URL and an excerpt. */
export function webSearchTool(settings: ToolSettings): Tool {
  return defineTool({
    name: 'web_search',
    description: 'Searches the web. Gives the title, URL and an excerpt of each page.',
    input: searchSchema(),
    restart: 'pure',
    category: 'web',
    operation: 'read',
    paths: [],
    run: (input, context) => search(input, settings, context),
  })
}

async function search(
  { query, max }: { readonly query: string; readonly max: number },
  { tavily }: ToolSettings,
  context: ToolContext,
): Promise<string | ToolOutput> {
  const apiKey = tavily.apiKey()
  if (apiKey === undefined) return errorOutput('TAVILY_API_KEY is not set.')
  const tooLate = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(`${tavily.baseUrl}/search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, max_results: max }),
      redirect: 'error',
      signal: AbortSignal.any([context.signal, tooLate]),
    })
    const text = await (await import('./response-text.ts')).responseText(response)
    if (!response.ok) return errorOutput(`web search: ${response.status}: ${cutText(text, maxErrorChars)}`)
    return results(text, max)
  } catch (error) {
    context.signal.throwIfAborted()
    if (tooLate.aborted) return errorOutput(`web search: no answer within ${timeoutMs / 1_000} s`)
    if (error instanceof TypeError) return errorOutput('web search: the server cannot be reached')
    throw error
  }
}

function results(text: string, max: number): string | ToolOutput {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return errorOutput('web search: the answer is not JSON')
  }
  const answer = answerSchema().safeParse(json)
  if (!answer.success) return errorOutput(`web search: malformed answer: ${schemaIssues(answer.error)}`)
  const found = answer.data.results.slice(0, max)
  return found.length === 0
    ? '[no results]'
    : found.map(({ title, url, content }) => `${title}\n${url}\n${content}`).join('\n\n')
}
