import {
  type ModelContext,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
  scripted,
  textOf,
  type Tool,
} from 'entia'
import { lead } from './lead.ts'
import { researcher } from './researcher.ts'

export { type Question, questionPrompt, readQuestion } from './question.ts'

/** Range of the time before a reply. */
const latencyMs = [250, 600] as const
/** Pause between streamed words. */
const wordMs = { lead: 6, researcher: 2 } as const
const toolMs = 300
/** A common rule of thumb for English text. */
const charsPerToken = 4

/**
 * A model for a lead and its researchers that needs no key: scripts that list, search and quote. Token counts are
 * estimates. `isPaced`: it takes time and streams word by word, as models do, so that there is something to see and to
 * interrupt.
 */
export function readerModel({ isPaced }: { readonly isPaced: boolean }): ModelProvider {
  const script = scripted((request, context) => (isLead(request) ? lead : researcher)(request, context), {
    latencyMs: isPaced ? latencyMs : 0,
    stream: !isPaced,
  })
  return {
    retry: false,
    async call(request, context) {
      const outcome = await script.call(request, context)
      if (!outcome.ok) return outcome
      if (isPaced) await stream(outcome.value, context, wordMs[isLead(request) ? 'lead' : 'researcher'])
      const { system, tools, messages } = request
      const usage = { input: tokensOf([system, tools, messages]), output: tokensOf(outcome.value.message.content) }
      return { ok: true, value: { ...outcome.value, usage } }
    },
  }
}

/** The same tool with a pause, so that its calls can be seen. */
export function pacedTool({ declaration, call }: Tool): Tool {
  return {
    declaration,
    async call(input, context) {
      await context.sleep(toolMs)
      return call(input, context)
    },
  }
}

/** Only the lead can launch researchers. */
function isLead({ tools }: ModelRequest): boolean {
  return tools.some(({ name }) => name === 'subagent')
}

async function stream({ message }: ModelReply, { onDelta, sleep, signal }: ModelContext, pauseMs: number) {
  for (const [word] of textOf(message).matchAll(/\s*\S+/g)) {
    if (signal.aborted) return
    onDelta({ type: 'text', text: word })
    await sleep(pauseMs).catch(() => undefined)
  }
  for (const block of message.content) {
    if (block.type === 'tool-call') onDelta({ type: 'tool-call', id: block.id, name: block.name })
  }
}

function tokensOf(data: unknown): number {
  return Math.ceil(JSON.stringify(data).length / charsPerToken)
}
