import { agent, World } from 'entia'
import { configured, readConfig } from 'entia/context'
import { Archival, Ceilings, Context, Conversation, Llm } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { defaults, everything } from './whole-config.ts'

describe('an agent', () => {
  const partsOf = (given: unknown): string[] => configured(readConfig(given)).map(({ token }) => token.name)

  it('without a configuration has none of its components, and without one that says otherwise Context alone', () => {
    expect(agent({ model: 'scripted/x' }).map(({ token }) => token)).toEqual([Llm, Conversation])
    const parts = agent({ model: 'scripted/x', config: {} })
    expect(parts.map(({ token }) => token)).toEqual([Llm, Conversation, Context])
  })

  it('has Ceilings when there is one, and Archival when it is switched on', () => {
    expect(partsOf({ ceilings: { on_unpriced: 'refuse' } })).toEqual(['Context'])
    expect(partsOf({ ceilings: { max_turn_cost_usd: 1 } })).toEqual(['Context', 'Ceilings'])
    expect(partsOf({ ceilings: { max_session_cost_usd: 1 } })).toEqual(['Context', 'Ceilings'])
    expect(partsOf({ subagents: { enabled: true } })).toEqual(['Context'])
    expect(partsOf(everything)).toEqual(['Context', 'Ceilings', 'Archival'])
  })

  it('of a configuration that was left empty has the components of components that were', () => {
    const world = new World()
    const configuredAgent = world.spawn(...agent({ model: 'scripted/x', config: { context: {} } }))
    const bare = world.spawn(Context({}), Archival({ enabled: true }), Ceilings({}))
    const { modelsByTier, ...rest } = world.read(configuredAgent, Context)
    expect({ ...rest, modelsByTier: {} }).toEqual(world.read(bare, Context))
    expect(modelsByTier).toEqual(defaults.context.modelsByTier)
    expect(configured(readConfig({ archival: { enabled: true }, subagents: { enabled: true } }))).toContainEqual(
      Archival({ enabled: true }),
    )
    expect(world.read(bare, Ceilings)).toEqual({ onUnpriced: 'warn' })
  })

  it('has what the configuration says, with times in milliseconds', () => {
    const world = new World()
    const entity = world.spawn(...agent({ model: 'scripted/x', config: everything }))
    expect(world.read(entity, Context)).toMatchObject({
      agentic: { tools: false, smallModel: 'claude-haiku-4-5', maxDigestChars: 1 },
      checkpoint: { enabled: false },
      compaction: { enabled: false, threshold: 0.8, midTurn: null, cacheAware: true, timeoutMs: 7_000 },
      taskClass: 'debug',
      tiers: { llama_3: 'small' },
      watchdog: { mode: 'enforce', threshold: 2 },
    })
    expect(world.read(entity, Ceilings)).toEqual({ maxTurnCostUsd: 0.1, maxSessionCostUsd: 1, onUnpriced: 'refuse' })
    expect(world.read(entity, Archival)).toEqual({
      enabled: true,
      maxListed: 1,
      placement: 'system',
      summary: { maxOutputTokens: 1, model: 'ollama/llama3.3', style: 'paragraph', timeoutMs: 500 },
      trigger: { depthCap: 0, onMaxTurns: false, tokenThreshold: null, toolCallThreshold: 1 },
    })
  })

  it('never has a time-out of no time', () => {
    const config = readConfig({ context: { compaction: { timeout_seconds: 1e-9 } } })
    expect(configured(config)[0]?.initial).toMatchObject({ compaction: { timeoutMs: 1 } })
  })
})
