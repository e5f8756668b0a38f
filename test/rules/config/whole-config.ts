import type { Config, ConfigInput } from 'entia/context'

/** All that holds where nothing is said. */
export const defaults: Config = {
  subagents: { enabled: false },
  archival: {
    enabled: false,
    trigger: { onMaxTurns: true, tokenThreshold: 8_000, toolCallThreshold: 5, depthCap: 3 },
    summary: { style: 'structured', model: null, timeoutSeconds: 60, maxOutputTokens: 1_024 },
    placement: 'tail',
    maxListed: 50,
  },
  context: {
    compaction: {
      enabled: true,
      thresholdByTier: {},
      midTurn: 0.95,
      cacheAware: false,
      maxOutputTokens: 4_096,
      timeoutSeconds: 120,
    },
    checkpoint: { enabled: true },
    agentic: { tools: true, maxDigestChars: 8_000 },
    smallTierParent: 'warn',
    watchdog: 'warn',
    watchdogThreshold: 5,
    tiers: {},
    modelsByTier: {
      gemini: { frontier: 'gemini-3.5-pro', mid: 'gemini-2.5-pro', small: 'gemini-2.5-flash' },
      openai: { small: 'gpt-6-luna' },
      vertex: { frontier: 'gemini-3.5-pro', mid: 'gemini-2.5-pro', small: 'gemini-2.5-flash' },
      anthropic: { frontier: 'claude-opus-4-7', mid: 'claude-sonnet-4-6', small: 'claude-haiku-4-5' },
    },
    prices: {},
  },
  ceilings: { onUnpriced: 'warn' },
}

/** Every key, spelt as in a file, with a value that is not the default. */
export const everything = {
  approval_mode: 'deny',
  model: 'ollama/qwen3',
  trusted_folders: ['/work', '~/src'],
  subagents: { enabled: true },
  archival: {
    enabled: true,
    trigger: { on_max_turns: false, token_threshold: null, tool_call_threshold: 1, depth_cap: 0 },
    summary: { style: 'paragraph', model: 'ollama/llama3.3', timeout_seconds: 0.5, max_output_tokens: 1 },
    placement: 'system',
    max_listed: 1,
  },
  context: {
    compaction: {
      enabled: false,
      threshold: 0.8,
      threshold_by_tier: { frontier: 0.9, mid: 0.5, small: 0.3 },
      mid_turn: null,
      cache_aware: true,
      max_output_tokens: 1,
      timeout_seconds: 7,
    },
    checkpoint: { enabled: false },
    agentic: { tools: false, small_model: 'claude-haiku-4-5', max_digest_chars: 1 },
    task_class: 'debug',
    small_tier_parent: 'refuse',
    watchdog: 'enforce',
    watchdog_threshold: 2,
    tiers: { llama_3: 'small' },
    models_by_tier: { anthropic: { small: 'claude-haiku-5' }, ollama: { mid: 'qwen3-coder' } },
    prices: {
      'my/model_1': {
        input: 1,
        cache_read: 0,
        cache_write: 1.25,
        cache_write_1h: 2,
        output: 5,
        context_window: 1,
      },
    },
  },
  ceilings: { max_turn_cost_usd: 0.1, max_session_cost_usd: 1, on_unpriced: 'refuse' },
}

/** The same in camelCase. */
export const everythingInCamelCase = {
  approvalMode: 'deny',
  model: 'ollama/qwen3',
  trustedFolders: ['/work', '~/src'],
  subagents: { enabled: true },
  archival: {
    enabled: true,
    trigger: { onMaxTurns: false, tokenThreshold: null, toolCallThreshold: 1, depthCap: 0 },
    summary: { style: 'paragraph', model: 'ollama/llama3.3', timeoutSeconds: 0.5, maxOutputTokens: 1 },
    placement: 'system',
    maxListed: 1,
  },
  context: {
    compaction: {
      enabled: false,
      threshold: 0.8,
      thresholdByTier: { frontier: 0.9, mid: 0.5, small: 0.3 },
      midTurn: null,
      cacheAware: true,
      maxOutputTokens: 1,
      timeoutSeconds: 7,
    },
    checkpoint: { enabled: false },
    agentic: { tools: false, smallModel: 'claude-haiku-4-5', maxDigestChars: 1 },
    taskClass: 'debug',
    smallTierParent: 'refuse',
    watchdog: 'enforce',
    watchdogThreshold: 2,
    tiers: { llama_3: 'small' },
    modelsByTier: { anthropic: { small: 'claude-haiku-5' }, ollama: { mid: 'qwen3-coder' } },
    prices: {
      'my/model_1': { input: 1, cacheRead: 0, cacheWrite: 1.25, cacheWrite1h: 2, output: 5, contextWindow: 1 },
    },
  },
  ceilings: { maxTurnCostUsd: 0.1, maxSessionCostUsd: 1, onUnpriced: 'refuse' },
} satisfies ConfigInput
