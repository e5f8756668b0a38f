import { mergeConfig, readConfig } from 'entia/context'
import { describe, expect, it } from 'vitest'
import { defaults } from './whole-config.ts'

describe('layers of a configuration', () => {
  const user = { context: { compaction: { threshold: 0.5, mid_turn: 0.9, timeout_seconds: 5 }, task_class: 'chat' } }
  const project = { context: { compaction: { threshold: 0.6, midTurn: null }, tiers: { llama: 'small' } } }
  const flags = { context: { compaction: { threshold: 0.7 } } }

  it('disagree, and the last one wins key by key', () => {
    const { compaction, taskClass, tiers } = readConfig(mergeConfig(user, project, flags)).context
    expect(compaction).toMatchObject({ threshold: 0.7, midTurn: null, timeoutSeconds: 5 })
    expect([taskClass, tiers]).toEqual(['chat', { llama: 'small' }])
    expect(readConfig(mergeConfig(user, project)).context.compaction.threshold).toBe(0.6)
    expect(readConfig(mergeConfig(flags, project, user)).context.compaction.threshold).toBe(0.5)
  })

  it('merge tables entry by entry', () => {
    const merged = mergeConfig(
      { context: { prices: { x: { input: 1, cache_read: 0.1 }, y: { input: 2 } }, tiers: { a: 'mid' } } },
      { context: { prices: { x: { cacheRead: 0.2 } }, tiers: { b: 'small' } } },
    )
    expect(merged).toEqual({
      context: { prices: { x: { input: 1, cacheRead: 0.2 }, y: { input: 2 } }, tiers: { a: 'mid', b: 'small' } },
    })
  })

  it('that say nothing change nothing, and `undefined` in one is nothing said', () => {
    expect(mergeConfig(undefined, user, {}, { context: { task_class: undefined } })).toEqual(mergeConfig(user))
    expect(mergeConfig()).toEqual({})
    expect(readConfig(mergeConfig())).toEqual(defaults)
  })

  it('may be whole configurations that were read', () => {
    expect(readConfig(mergeConfig(readConfig(user), flags)).context.compaction).toMatchObject({
      threshold: 0.7,
      midTurn: 0.9,
    })
  })

  it('are checked one by one, even where a later one has the last word', () => {
    const wrong = { context: { task_class: 'testing' } }
    expect(() => mergeConfig(wrong, { context: { taskClass: 'chat' } })).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.stringContaining('context.task_class: ') }),
    )
    expect(() => mergeConfig({ archival: { max_listed: 1, maxListed: 1 } }, {})).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.stringContaining('archival.maxListed: ') }),
    )
    expect(() => mergeConfig(user, [])).toThrow(expect.objectContaining({ code: 'config-invalid' }))
  })

  it('may switch on archival in one and subagents in another', () => {
    const merged = mergeConfig({ subagents: { enabled: true } }, { archival: { enabled: true } })
    expect(readConfig(merged).archival.enabled).toBe(true)
  })
})
