import type { EntiaError } from '../../index.ts'
import type { Failure } from '../../protocol/failure.ts'
import { adviceOn } from '../choose-model.ts'

/** Why a turn of a chat failed, and what its user can do. */
export function failureText(failure: Failure, model: string): string {
  const { kind, message } = failure
  const isAway = model.startsWith('ollama/') && message.includes('could not be reached')
  const advice = isAway
    ? 'Start Ollama, or name where it runs by OLLAMA_HOST.'
    : (chatAdvice[kind] ?? adviceOn(failure, model))
  return [`${kind}: ${message.replace(/\.?$/, '.')}`, advice].filter((part) => part !== undefined).join(' ')
}

/** Where a chat has other means than a single question. */
const chatAdvice: Readonly<Partial<Record<Failure['kind'], string>>> = {
  'budget-spent': 'Raise the ceiling: ceilings in config.json, or /resume-after-cost-ceiling USD in a chat.',
  'context-overflow': 'Make it shorter with /compact, or name a model with a larger window with --model.',
}

/** How to get a model, where there is no key for one. */
export function modelAdvice({ message }: EntiaError): string {
  return `${message}

An agent needs a model. Any one of these will do:
  Anthropic   set ANTHROPIC_API_KEY         entia
  OpenAI      set OPENAI_API_KEY            entia --provider openai
  Moonshot    set MOONSHOT_API_KEY          entia --provider moonshot
  local       ollama pull gpt-oss:20b       entia --provider ollama

Without one, entia ask shows a scripted run.`
}
