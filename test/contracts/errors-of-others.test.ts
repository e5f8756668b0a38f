import { describe, expect, it } from 'vitest'
import { startScriptedServer } from '../servers/scripted-server.ts'
import { failureOf } from './model-calls.ts'
import { wiresOfOthers } from './wires-of-others.ts'

const openAI = (message: string, more: object = {}) => ({ error: { message, type: 'invalid_request_error', ...more } })
const google = (code: number, message: string, status: string, details: readonly object[] = []) => [
  { error: { code, message, status, details } },
]

type Case = readonly [maker: string, status: number, body: unknown]

const overflows: readonly Case[] = [
  [
    'OpenAI',
    400,
    openAI("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."),
  ],
  [
    'OpenAI by the minute',
    429,
    openAI(
      'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 45000.',
      { code: 'rate_limit_exceeded' },
    ),
  ],
  [
    'vLLM',
    400,
    openAI(
      'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Maximum context length exceeded',
    ),
  ],
  [
    'Gemini',
    400,
    google(
      400,
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      'INVALID_ARGUMENT',
    ),
  ],
  [
    'xAI',
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    },
  ],
  [
    'Claude',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'input length and `max_tokens` exceed context limit: 187254 + 20000 > 204798',
      },
    },
  ],
  ['Bedrock', 400, { message: 'Input is too long for requested model.', __type: 'ValidationException' }],
  ['Bedrock', 400, { message: 'Too many input tokens. Max input tokens: 8192, request input token count: 9000' }],
  [
    'Mistral',
    400,
    {
      object: 'error',
      message: 'Prompt contains 65673 tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_error',
    },
  ],
  [
    'llama.cpp',
    400,
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size',
        type: 'exceed_context_size_error',
      },
    },
  ],
  ['Ollama', 500, { error: 'prompt too long; exceeded max context length by 4 tokens' }],
  [
    'LM Studio',
    400,
    { error: 'The number of tokens to keep from the initial prompt is greater than the context length.' },
  ],
  [
    'TGI',
    422,
    {
      error: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 1527',
      error_type: 'validation',
    },
  ],
  [
    'Together',
    422,
    openAI('Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. `inputs` must be <= 4097'),
  ],
  ['Qwen', 400, openAI('<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]')],
  ['Moonshot', 400, openAI('Invalid request: Your request exceeded model token limit: 8192')],
  ['Z.ai', 400, { error: { code: '1261', message: 'Prompt exceeds max length' } }],
  [
    'Copilot',
    400,
    {
      error: {
        message: 'prompt token count of 130000 exceeds the limit of 128000',
        code: 'model_max_prompt_tokens_exceeded',
      },
    },
  ],
  [
    'Cerebras',
    400,
    openAI('Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192'),
  ],
  ['Fireworks', 400, openAI('The prompt is too long: 200000, model maximum context length: 131071')],
  ['vLLM', 400, openAI('The decoder prompt (length 5000) is longer than the maximum model length of 4096.')],
  [
    'Vertex',
    400,
    openAI('Unable to submit request because the input token count is 1100000 but model only supports up to 1048576.'),
  ],
  ['Baidu', 400, { error_code: 336_007, error_msg: 'prompt tokens too long' }],
  ['Doubao', 400, openAI('Total tokens of image and text exceed max message tokens')],
  ['Z.ai', 400, { error: { code: '1261', message: 'Prompt 超长' } }],
  ['MiniMax', 200, { base_resp: { status_code: 2013, status_msg: 'invalid params, context window exceeds limit' } }],
  [
    'a router',
    400,
    {
      error: {
        code: 400,
        message: 'Provider returned error',
        metadata: { raw: '{"error":"Input is too long for requested model."}' },
      },
    },
  ],
  ['llama.cpp', 500, { error: { code: 500, message: 'context shift is disabled', type: 'server_error' } }],
  ['a gateway', 400, openAI('The input (300000 tokens) is larger than the limit of 262144')],
  [
    'a server of DeepSeek',
    400,
    openAI('Prompt has 5,958,968 tokens, but the configured context size is 256,000 tokens'),
  ],
]

const refusals: readonly Case[] = [
  [
    'Azure',
    400,
    openAI("The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", {
      code: 'content_filter',
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    }),
  ],
  [
    'Qwen',
    400,
    { error: { code: 'data_inspection_failed', message: 'Input data may contain inappropriate content.' } },
  ],
  ['DashScope', 400, { code: 'DataInspectionFailed', message: 'Output data may contain something.' }],
  ['DeepSeek', 400, openAI('Content Exists Risk')],
  [
    'OpenAI',
    400,
    openAI('Your request was rejected as a result of our safety system.', { code: 'moderation_blocked' }),
  ],
  ['OpenAI', 400, openAI('Your prompt was flagged as potentially violating our usage policy.')],
  ['Doubao', 400, openAI('The request failed because the input text may contain sensitive information.')],
  ['Moonshot', 400, openAI('The request was rejected because it was considered high risk', { type: 'content_filter' })],
  ['Z.ai', 400, { error: { code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容' } }],
  [
    'xAI',
    403,
    {
      code: 'The caller does not have permission',
      error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
    },
  ],
  [
    'OpenRouter',
    403,
    {
      error: { code: 403, message: 'openai/gpt requires moderation on OpenAI. Your input was flagged for "violence".' },
    },
  ],
  [
    'Claude',
    400,
    { type: 'error', error: { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' } },
  ],
  ['Vertex', 400, openAI("This prompt contains sensitive words that violate Google's Responsible AI practices.")],
]

const others: readonly (readonly [...Case, kind: string])[] = [
  [
    'OpenAI',
    400,
    openAI('max_tokens is too large: 32000. This model supports at most 4096 completion tokens'),
    'invalid-request',
  ],
  [
    'Claude',
    429,
    {
      type: 'error',
      error: {
        type: 'rate_limit_error',
        message: "This request would exceed your organization's rate limit of 30,000 input tokens per minute.",
      },
    },
    'rate-limited',
  ],
  [
    'Bedrock',
    429,
    { message: 'Too many tokens per minute, please wait before trying again.', __type: 'ThrottlingException' },
    'rate-limited',
  ],
  ['Gemini', 503, google(503, 'The model is overloaded. Please try again later.', 'UNAVAILABLE'), 'overloaded'],
  ['Groq', 498, openAI('Flex tier capacity exceeded.'), 'overloaded'],
  ['Bedrock', 424, { message: 'The model returned an error.' }, 'overloaded'],
  ['a gateway', 400, openAI('max_tokens (9000) exceeds the maximum of 4096'), 'invalid-request'],
  ['a gateway', 400, openAI('The number of max tokens exceeds the maximum of 4096'), 'invalid-request'],
  ['Gemini', 403, google(403, 'Permission denied on resource.', 'PERMISSION_DENIED'), 'unauthorized'],
  // Who has to pay first waits in vain.
  ['Z.ai', 429, { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } }, 'unauthorized'],
  [
    'xAI',
    429,
    { code: 'resource-exhausted', error: 'Your team has used all available credits or reached its monthly limit.' },
    'unauthorized',
  ],
  ['Claude', 400, openAI('Your credit balance is too low to access the Anthropic API.'), 'unauthorized'],
  ['DashScope', 400, { code: 'Arrearage', message: 'Make sure your account is in good standing.' }, 'unauthorized'],
  // What the model wrote once it may write otherwise.
  ['Groq', 400, openAI('Failed to call a function.', { code: 'tool_use_failed' }), 'truncated'],
  ['Groq', 400, openAI('Parsing failed.', { code: 'output_parse_failed' }), 'truncated'],
  [
    'Groq by the day',
    429,
    openAI('Rate limit reached on tokens per day (TPD): Limit 100000, Used 99000. Please try again in 57m36s.'),
    'rate-limited',
  ],
  ['Groq by the minute', 413, openAI('Request too large on tokens per minute (TPM): Limit 6000'), 'context-overflow'],
  ['Moonshot', 429, { error: { type: 'exceeded_current_quota_error', message: 'See your billing.' } }, 'unauthorized'],
  ['Moonshot', 503, { error: { type: 'engine_overloaded_error', message: 'Try later.' } }, 'overloaded'],
  ['OpenAI', 400, openAI('Unsupported value: temperature', { code: 'unsupported_value' }), 'invalid-request'],
  ['OpenAI', 404, openAI('The model does not exist', { code: 'model_not_found' }), 'invalid-request'],
  ['Mistral', 422, { detail: [{ type: 'extra_forbidden', msg: 'Extra inputs are not permitted' }] }, 'invalid-request'],
  ['Bedrock', 400, { message: 'Too many tokens, please wait.', __type: 'ThrottlingException' }, 'rate-limited'],
]

describe.each(wiresOfOthers)('an error of $name', (wire) => {
  const kindOf = async ([, status, body]: Case): Promise<string> => {
    const server = await startScriptedServer(() => ({ status, body }))
    return (await failureOf(wire.make(server.url))).kind
  }

  it('about a prompt that is too long is an overflow, in the words of each maker', async () => {
    for (const each of overflows) expect([each[0], await kindOf(each)]).toEqual([each[0], 'context-overflow'])
  })

  it('about what a filter found is a refusal, in the words of each maker', async () => {
    for (const each of refusals) expect([each[0], await kindOf(each)]).toEqual([each[0], 'refused'])
  })

  it.each(others)('of another kind stays one: %s %i', async (maker, status, body, kind) => {
    expect(await kindOf([maker, status, body])).toBe(kind)
  })

  const quota = google(429, 'You exceeded your current quota. Please retry in 58.9s.', 'RESOURCE_EXHAUSTED', [
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '58s' },
  ])
  it.each([
    ['its body', quota, {}, 58_000],
    ['its text', openAI('Rate limit reached for gpt-4o. Please try again in 1m2.5s. Visit …'), {}, 62_500],
    [
      'its text, in words',
      openAI('Requests have exceeded call rate limit. Please retry after 26 seconds.'),
      {},
      26_000,
    ],
    [
      'a field of a router',
      { error: { code: 429, message: 'Slow.', metadata: { retry_after_seconds: 7 } } },
      {},
      7_000,
    ],
    ['a header, which comes first', quota, { 'retry-after': '3' }, 3_000],
    [
      'the limit that is used up',
      openAI('Slow.'),
      {
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0s',
        'x-ratelimit-remaining-requests': '9',
        'x-ratelimit-reset-requests': '1h',
      },
      360_000,
    ],
    [
      'the limit of a minute, in seconds',
      openAI('Slow.'),
      { 'x-ratelimit-remaining-tokens-minute': '0', 'x-ratelimit-reset-tokens-minute': '11.38' },
      11_380,
    ],
    [
      'the limit that is used up until a moment',
      openAI('Slow.'),
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1741305600000', date: 'Thu, 06 Mar 2025 23:59:00 GMT' },
      60_000,
    ],
    [
      'the limit that is used up until a date',
      openAI('Slow.'),
      {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2025-03-07T00:00:00Z',
        date: 'Thu, 06 Mar 2025 23:59:00 GMT',
      },
      60_000,
    ],
    ['nothing', openAI('Limit 3 reached after 20 requests.'), {}, undefined],
  ])('says how long to wait in %s', async (_, body, headers, waitMs) => {
    const server = await startScriptedServer(() => ({ status: 429, body, headers }))
    expect(await failureOf(wire.make(server.url))).toMatchObject({
      kind: 'rate-limited',
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    })
  })
})
