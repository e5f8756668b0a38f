import { agent, EntiaError } from 'entia'
import { readConfig } from 'entia/context'
import { describe, expect, it } from 'vitest'
import { defaults, everything, everythingInCamelCase } from './whole-config.ts'

/** What reading something throws. */
function refusal(given: unknown): EntiaError {
  try {
    readConfig(given)
  } catch (error) {
    if (error instanceof EntiaError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** An object with one value, at the end of a path. */
function at(path: readonly string[], value: unknown): unknown {
  return path.toReversed().reduce((inner, key) => ({ [key]: inner }), value)
}

describe('a configuration', () => {
  it.for([[undefined], [{}], [{ archival: undefined, context: {}, ceilings: { max_turn_cost_usd: undefined } }]])(
    'that says nothing has every default: %j',
    ([given]) => {
      expect(readConfig(given)).toEqual(defaults)
    },
  )

  it('may be spelt in snake_case or in camelCase', () => {
    const config = readConfig(everything)
    const { modelsByTier } = config.context
    expect(config).toEqual({
      ...everythingInCamelCase,
      context: { ...everythingInCamelCase.context, modelsByTier },
    })
    expect(readConfig(everythingInCamelCase)).toEqual(config)
  })

  it('keeps the table of models where it names none', () => {
    expect(readConfig(everything).context.modelsByTier).toEqual({
      ...defaults.context.modelsByTier,
      anthropic: { frontier: 'claude-opus-4-7', mid: 'claude-sonnet-4-6', small: 'claude-haiku-5' },
      ollama: { mid: 'qwen3-coder' },
    })
  })

  it('that was read is frozen, is a configuration itself, and is not read again', () => {
    const config = readConfig(everything)
    expect(readConfig(config)).toBe(config)
    expect(readConfig(structuredClone(config))).toEqual(config)
    expect(Object.isFrozen(config.context.prices['my/model_1'])).toBe(true)
  })

  it.for<[path: string, value: unknown, expected: string, came: string]>([
    ['context.compaction.threshold', 0, 'a number above 0 and below 1', '0'],
    ['context.compaction.threshold', 1, 'a number above 0 and below 1', '1'],
    ['context.compaction.threshold', null, 'a number above 0 and below 1', 'null'],
    ['context.compaction.threshold', Number.NaN, 'a number above 0 and below 1', 'NaN'],
    ['context.compaction.threshold_by_tier.small', 1, 'a number above 0 and below 1', '1'],
    ['context.compaction.thresholdByTier.mid', '0.5', 'a number above 0 and below 1', '"0.5"'],
    ['context.compaction.mid_turn', 0, 'a number above 0, at most 1, or null', '0'],
    ['context.compaction.mid_turn', 1.01, 'a number above 0, at most 1, or null', '1.01'],
    ['context.compaction.max_output_tokens', 0, 'an integer ≥ 1', '0'],
    ['context.compaction.timeout_seconds', 0, 'a number above 0, at most 1000000000000', '0'],
    ['context.compaction.timeout_seconds', 1e300, 'a number above 0, at most 1000000000000', '1e+300'],
    ['context.compaction.enabled', 'yes', 'true or false', '"yes"'],
    ['context.compaction', [], 'an object', 'a list'],
    ['context.compaction', new Map(), 'an object', 'no plain object'],
    ['context.compaction', null, 'an object', 'null'],
    ['context.agentic.max_digest_chars', 1.5, 'an integer ≥ 1', '1.5'],
    ['context.agentic.small_model', ' ', "a model's name", '" "'],
    ['context.task_class', 'testing', 'debug, implement, chat, research or review', '"testing"'],
    ['context.small_tier_parent', 'off', 'warn, refuse or allow', '"off"'],
    ['context.watchdog', true, 'off, warn, feedback or enforce', 'true'],
    ['context.watchdogThreshold', 1, 'an integer ≥ 2', '1'],
    ['context.tiers.llama', 'large', 'frontier, mid or small', '"large"'],
    ['context.models_by_tier.anthropic.small', '', "a model's name", '""'],
    ['context.prices.x.input', -1, 'a number from 0 to 1000000', '-1'],
    ['context.prices.x.cache_write_1h', Number('1e400'), 'a number from 0 to 1000000', 'Infinity'],
    ['context.prices.x.context_window', 0, 'an integer ≥ 1', '0'],
    ['context.prices.x.contextWindow', 2 ** 60, 'an integer ≥ 1', '1152921504606847000'],
    ['ceilings.max_turn_cost_usd', 0, 'a finite number above 0', '0'],
    ['ceilings.maxSessionCostUsd', -0.01, 'a finite number above 0', '-0.01'],
    ['ceilings.max_session_cost_usd', Number.POSITIVE_INFINITY, 'a finite number above 0', 'Infinity'],
    ['ceilings.max_session_cost_usd', 10n, 'a finite number above 0', '10'],
    ['ceilings.on_unpriced', 'stop', 'warn or refuse', '"stop"'],
    ['archival.trigger.token_threshold', 0, 'an integer ≥ 1, or null', '0'],
    ['archival.trigger.tool_call_threshold', 0.5, 'an integer ≥ 1, or null', '0.5'],
    ['archival.trigger.depth_cap', -1, 'an integer ≥ 0', '-1'],
    ['archival.trigger.depth_cap', null, 'an integer ≥ 0', 'null'],
    ['archival.summary.style', 'prose', 'structured or paragraph', '"prose"'],
    ['archival.summary.model', '', "a model's name, or null", '""'],
    ['archival.summary.timeout_seconds', -1, 'a number above 0, at most 1000000000000', '-1'],
    ['archival.summary.max_output_tokens', 0, 'an integer ≥ 1', '0'],
    ['archival.placement', 'head', 'tail or system', '"head"'],
    ['archival.max_listed', 0, 'an integer ≥ 1', '0'],
    ['archival', () => {}, 'an object', 'a function'],
    ['approvalMode', 'yes', 'allow, ask or deny', '"yes"'],
    ['model', '', "a model's name", '""'],
    [
      'trustedFolders',
      ['here'],
      'a list of folders, each absolute or beginning with ~/',
      'a list whose entry 1 is "here"',
    ],
    ['subagents.enabled', 1, 'true or false', '1'],
    ['subagents.enabled', Symbol('yes'), 'true or false', 'Symbol(yes)'],
  ])('refuses %s: %o', ([path, value, expected, came]) => {
    const error = refusal(at(path.split('.'), value))
    expect(error.code).toBe('config-invalid')
    expect(error.message).toBe(`The configuration cannot be used. ${path}: expected ${expected}, got ${came}.`)
    expect(error.details).toEqual({ path, problems: [{ path, expected, got: came }] })
  })

  it.for([[7], ['{}'], [null], [[]], [new Date(0)]])('is an object, and nothing like %o', ([given]) => {
    expect(refusal(given).code).toBe('config-invalid')
    expect(refusal(given).message).toContain('It: expected an object, got ')
  })

  it.for<[path: string[], named: string]>([
    [
      ['contxt'],
      'contxt: expected one of approval_mode, archival, ceilings, context, model, subagents, trusted_folders',
    ],
    [['modle'], 'modle: expected one of '],
    [['context', 'compaction', 'treshold'], 'context.compaction.treshold: expected one of cache_aware, '],
    [['context', 'compaction', 'timeoutMs'], 'context.compaction.timeoutMs: '],
    [['context', 'compaction', 'Threshold'], 'context.compaction.Threshold: '],
    [['context', 'compaction', 'mid_Turn'], 'context.compaction.mid_Turn: '],
    [['context', 'agentic', 'max_digestChars'], 'context.agentic.max_digestChars: '],
    [['context', 'models_by_tier', 'x', 'large'], 'context.models_by_tier.x.large: expected one of frontier, mid, '],
    [['context', 'prices', 'a/b', 'cacheWrite_1h'], 'context.prices["a/b"].cacheWrite_1h: '],
    [['archival', 'constructor'], 'archival.constructor: '],
  ])('refuses a key that it does not know: %j', ([path, named]) => {
    expect(refusal(at(path, 0.5)).code).toBe('config-invalid')
    expect(refusal(at(path, 0.5)).message).toContain(named)
  })

  it.for([['context.tiers', '', '^', '__proto__'] as const, ['context.prices', '', '__proto__'] as const])(
    'refuses keys of %s that are no names',
    ([path, ...keys]) => {
      for (const key of keys) {
        const given = at(path.split('.'), JSON.parse(`{${JSON.stringify(key)}:${path.endsWith('s') ? '{}' : ''}}`))
        expect(refusal(given).message, key).toContain("a model's name as the key")
      }
    },
  )

  it('refuses a key that stands there in both spellings, with the same value or another', () => {
    const error = refusal({ context: { taskClass: 'chat', task_class: 'chat' } })
    expect(error.code).toBe('config-invalid')
    expect(error.message).toContain('context.task_class: expected one spelling of a key, got the same key as')
    expect(error.message).toContain('context.taskClass')
    expect(refusal({ archival: { max_listed: 1, maxListed: 2 } }).message).toContain('archival.maxListed')
  })

  it('does not take names that are data for spellings', () => {
    const { tiers, prices } = readConfig({
      context: { tiers: { my_model: 'mid', myModel: 'small' }, prices: { a_b: { input: 1 }, aB: { input: 2 } } },
    }).context
    expect(tiers).toEqual({ my_model: 'mid', myModel: 'small' })
    expect(prices).toEqual({ a_b: { input: 1 }, aB: { input: 2 } })
  })

  it('tells all that is wrong at once, and counts what is too much to tell', () => {
    const error = refusal({ context: { watchdog: 'x' }, ceilings: { max_turn_cost_usd: 0 }, archival: 7 })
    expect(error.message.split('\n').map((line) => line.split(':')[0])).toEqual([
      'The configuration cannot be used.',
      'context.watchdog',
      'ceilings.max_turn_cost_usd',
      'archival',
    ])
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`key${index}`, 1]))
    expect(refusal(many).message.split('\n')).toHaveLength(22)
    expect(refusal(many).message).toMatch(/\nAnd 980 more\.$/)
  })

  it.for([
    [{ archival: { enabled: true } }],
    [{ archival: { enabled: true }, subagents: {} }],
    [{ archival: { enabled: true }, subagents: { enabled: false } }],
  ])('that archives without subagents is refused before there is a world: %j', ([given]) => {
    const message =
      'archival.enabled requires subagents.enabled. Set subagents.enabled: true or archival.enabled: false.'
    expect(refusal(given)).toMatchObject({ code: 'config-invalid', message })
    expect(() => agent({ model: 'scripted/x', config: given ?? {} })).toThrow(
      expect.objectContaining({ code: 'config-invalid', message }),
    )
  })
})
