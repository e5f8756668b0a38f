import {
  type ModelContext,
  type ModelOutcome,
  type ModelProvider,
  type ModelRequest,
  scripted,
  textOf,
  type TokenUsage,
} from '../../index.ts'
import { leadBehaviour } from './lead-behaviour.ts'
import { readerBehaviour } from './reader-behaviour.ts'

export interface ReaderModelOptions {
  /** Takes its time and streams word by word, as models do, so that there is something to see and to interrupt. */
  readonly isPaced: boolean
}

/** The range in which the time before an answer lies. */
const latencyMs = [250, 600] as const
/** From word to word of what people read as it comes, and of what they do not. */
const wordMs = { lead: 6, researcher: 2 } as const
/** A common rule of thumb for English text. */
const charsPerToken = 4

/** The model that stands in where there is no key: a script that leads, or reads. Its token counts are estimates. */
export function readerModel({ isPaced }: ReaderModelOptions): ModelProvider {
  const reader = scripted((request, context) => (isLead(request) ? leadBehaviour : readerBehaviour)(request, context), {
    latencyMs: isPaced ? latencyMs : 0,
    stream: !isPaced,
  })
  return {
    retry: false,
    async call(request, context) {
      const outcome = await reader.call(request, context)
      if (!outcome.ok) return outcome
      if (isPaced) await stream(outcome, context, wordMs[isLead(request) ? 'lead' : 'researcher'])
      return { ok: true, value: { ...outcome.value, usage: estimated(request, outcome) } }
    },
  }
}

/** Whoever can send researchers out leads them. */
function isLead({ tools }: ModelRequest): boolean {
  return tools.some(({ name }) => name === 'subagent')
}

type Answered = Extract<ModelOutcome, { readonly ok: true }>

async function stream({ value }: Answered, { onDelta, sleep, signal }: ModelContext, pauseMs: number): Promise<void> {
  for (const [word] of textOf(value.message).matchAll(/\s*\S+/g)) {
    if (signal.aborted) return
    onDelta({ type: 'text', text: word })
    await sleep(pauseMs).catch(() => undefined)
  }
  for (const block of value.message.content) {
    if (block.type === 'tool-call') onDelta({ type: 'tool-call', id: block.id, name: block.name })
  }
}

function estimated({ system, messages, tools }: ModelRequest, { value }: Answered): TokenUsage {
  return { input: tokensOf([system, tools, messages]), output: tokensOf(value.message.content) }
}

function tokensOf(data: unknown): number {
  return Math.ceil(JSON.stringify(data).length / charsPerToken)
}
