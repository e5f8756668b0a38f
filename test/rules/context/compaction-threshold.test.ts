import { compactionThreshold } from 'entia/context'
import { describe, expect, it } from 'vitest'

describe('the threshold of a compaction', () => {
  it("is the user's, before the task class's, before the tier's", () => {
    const tier = 'mid'
    const taskClass = 'debug'
    expect(compactionThreshold({ tier, taskClass, config: { threshold: 0.8 } })).toEqual({
      value: 0.8,
      source: 'threshold',
    })
    expect(compactionThreshold({ tier, taskClass, config: {} })).toEqual({ value: 0.65, source: 'task_class' })
    expect(compactionThreshold({ tier })).toEqual({ value: 0.65, source: 'tier' })
  })

  it('that the user set for a tier holds for that tier alone', () => {
    const config = { threshold: 0.8, thresholdByTier: { small: 0.3 } }
    expect(compactionThreshold({ tier: 'small', taskClass: 'chat', config })).toEqual({
      value: 0.3,
      source: 'threshold_by_tier',
    })
    expect(compactionThreshold({ tier: 'mid', taskClass: 'chat', config })).toEqual({ value: 0.8, source: 'threshold' })
    expect(compactionThreshold({ config })).toEqual({ value: 0.8, source: 'threshold' })
  })

  it.for([
    ['frontier', 0.85],
    ['mid', 0.65],
    ['small', 0.35],
  ] as const)('of tier %s is %d', ([tier, value]) => {
    expect(compactionThreshold({ tier })).toEqual({ value, source: 'tier' })
  })

  it("of a model without a tier is the task class's, or else 0.85", () => {
    expect(compactionThreshold({ tier: undefined, taskClass: 'review' })).toEqual({ value: 0.75, source: 'task_class' })
    expect(compactionThreshold({ config: { thresholdByTier: { mid: 0.1 } } })).toEqual({
      value: 0.85,
      source: 'default',
    })
  })
})
