import type { EntiaError } from '../../index.ts'

/** How to get a model, where there is no key for one. */
export function modelAdvice({ message }: EntiaError): string {
  return `${message}

An agent needs a model. Any one of these will do:
  Anthropic   set ANTHROPIC_API_KEY         entia
  OpenAI      set OPENAI_API_KEY            entia --provider openai
  Moonshot    set MOONSHOT_API_KEY          entia --provider moonshot
  local       ollama pull gpt-oss:20b       entia --provider ollama --model gpt-oss:20b

Without one, entia ask shows a scripted run.`
}
