import { convert } from 'html-to-text'
import { cutText } from '../../base/cut-text.ts'
import { cleanText } from '../../tools/files/clean-text.ts'
import { Refusal } from '../../tools/files/refusal.ts'
import type { ToolContext, ToolOutput } from '../../tools/port.ts'
import { errorOutput, keptText, leftOutNote, standardMaxResultChars } from '../../tools/tool-output.ts'
import { responseText } from './response-text.ts'
import type { ToolSettings } from './settings.ts'
import { fetchPublic } from './web-address.ts'

const timeoutMs = 20_000
const maxErrorChars = 500
const maxDepth = 200

const textType = /^(text\/|application\/([\w.+-]+\+)?(json|xml|yaml|javascript|x-ndjson)\b|image\/svg\+xml)/i

/** Does the work of `fetch_url`. */
export async function fetchText(
  { url, maxChars }: { readonly url: string; readonly maxChars: number },
  settings: ToolSettings,
  context: ToolContext,
): Promise<string | ToolOutput> {
  const tooLate = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([context.signal, tooLate])
  try {
    return await fetchPublic(url, settings.allowPrivate, signal, async (response, target) => {
      const type = response.headers.get('content-type') ?? 'text/plain'
      if (response.ok && !textType.test(type)) throw new Refusal(`not text: ${type}`)
      const body = await responseText(response)
      const text = cleanText(/^(text\/html|application\/xhtml)/i.test(type) ? textOfHtml(body, target) : body).trim()
      if (response.ok) return capped(text, maxChars, context)
      throw new Refusal(`${response.status} ${response.statusText}: ${cutText(text, maxErrorChars)}`)
    })
  } catch (error) {
    context.signal.throwIfAborted()
    if (tooLate.aborted) return errorOutput(`no complete answer within ${timeoutMs / 1_000} s`)
    if (error instanceof Refusal) return errorOutput(error.message)
    throw error
  }
}

/** Room for the note, so that the result is not cut again. */
const noteChars = 200

async function capped(text: string, maxChars: number, { handles }: ToolContext): Promise<string> {
  if (text.length <= maxChars) return text
  const shown = cutText(text, Math.min(maxChars, standardMaxResultChars - noteChars))
  return `${shown}\n[${leftOutNote(text.length - shown.length, await keptText(handles, text))}]`
}

function textOfHtml(html: string, url: URL): string {
  return convert(html, {
    wordwrap: false,
    limits: { maxDepth },
    selectors: [
      { selector: 'a', options: { baseUrl: url.origin, hideLinkHrefIfSameAsText: true } },
      { selector: 'img', format: 'skip' },
    ],
  })
}
