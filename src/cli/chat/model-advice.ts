import type { EntiaError } from '../../index.ts'
import type { Failure } from '../../protocol/failure.ts'
import { adviceOn } from '../choose-model.ts'

/** In the message of a failure of a server that no connection was made to. */
const unreachable = 'could not be reached'

/** Why a turn of a chat failed, and what its user can do. */
export function failureText(failure: Failure, model: string): string {
  const { kind, message } = failure
  const isAway = message.includes(unreachable)
  const advice = !isAway
    ? (chatAdvice[kind] ?? adviceOn(failure, model))
    : model.startsWith('ollama/')
      ? 'Start Ollama, or name where it runs by OLLAMA_HOST.'
      : 'Look at the network, a proxy and the address of the provider (its base URL).'
  // A server that cannot be reached counts as overloaded, and is tried again; people read what it is.
  const isNamed = kind !== 'overloaded' || !message.includes(unreachable)
  return [`${isNamed ? `${kind}: ` : ''}${message.replace(/\.?$/, '.')}`, advice]
    .filter((part) => part !== undefined)
    .join(' ')
}

/** Where a chat has other means than a single question. */
const chatAdvice: Readonly<Partial<Record<Failure['kind'], string>>> = {
  'budget-spent': 'Raise the ceiling: ceilings in config.json, or /resume-after-cost-ceiling USD in a chat.',
  watchdog: 'In a chat, /resume-after-watchdog lets it go on; say what to do differently.',
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
