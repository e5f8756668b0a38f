import type { FailureKind } from '../protocol/failure.ts'

/** How an answer ended: finished, cut at the token limit, or as a failure of this kind. */
export type Ending = 'end' | 'max-tokens' | FailureKind

/** What providers of all protocols call it, in lower case. */
const endings: ReadonlyMap<string, Ending> = new Map([
  ...named('end', [
    'stop',
    'tool_calls',
    'function_call',
    'eos',
    'eos_token',
    'stop_sequence',
    'stop_token',
    'end_turn',
    'end_of_turn',
    'tool_use',
    'tool_call',
    'complete',
    'completed',
    'normal',
  ]),
  ...named('max-tokens', [
    'length',
    'max_tokens',
    'max_output_tokens',
    'max_completion_tokens',
    'max_token',
    'token_limit',
    'output_limit',
    'error_limit',
    'max_length',
  ]),
  ...named('refused', [
    'content_filter',
    'content_filtered',
    'contentfilter',
    'guardrail_intervened',
    'refusal',
    'safety',
    'sensitive',
    'recitation',
    'blocklist',
    'prohibited_content',
    'spii',
    'image_safety',
    'image_prohibited_content',
    'image_recitation',
    'model_armor',
    'error_toxic',
    'moderation',
    'violation',
    'language',
  ]),
  ...named('overloaded', [
    'error',
    'network_error',
    'insufficient_system_resource',
    'engine_overloaded',
    'server_error',
    'internal_error',
  ]),
  ...named('timed-out', ['timeout', 'time_limit', 'timed_out']),
  ...named('context-overflow', [
    'model_length',
    'model_context_window_exceeded',
    'context_window_exceeded',
    'context_length_exceeded',
    'context_length',
    'max_context_length',
  ]),
  ...named('invalid-request', ['pause_turn', 'missing_thought_signature']),
])

function named(ending: Ending, words: readonly string[]): readonly (readonly [string, Ending])[] {
  return words.map((word) => [word, ending] as const)
}

/** `truncated` for a word that is not known. Some servers put two words together, as in `content_filter: SAFETY`. */
export function endingOf(word: string): Ending {
  for (const part of [word, ...word.split(/[.:]/)]) {
    const ending = endings.get(
      part
        .trim()
        .toLowerCase()
        .replaceAll(/[\s-]+/g, '_'),
    )
    if (ending !== undefined) return ending
  }
  return 'truncated'
}
