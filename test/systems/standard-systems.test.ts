import { EntiaError, standardSystems } from 'entia'
import { describe, expect, it } from 'vitest'

describe('the standard systems', () => {
  it('stand in the order in which they run', () => {
    const systems = standardSystems()
    expect(systems.map(({ name }) => name)).toEqual([
      'receipts',
      'restart',
      'settlement',
      'charging',
      'subtasks',
      'cancellation',
      'handles',
      'rewinding',
      'reception',
      'retry',
      'reply',
      'turn-end',
      'tool-results',
      'subagent-scheduler',
      'archive-jobs',
      'cost-ceiling',
      'wait',
      'subagent-tools',
      'context-tools',
      'routing',
      'limits',
      'allowance',
      'checkpoint',
      'compaction',
      'prompt-rendering',
      'watchdog',
      'reasoning',
      'tool-execution',
      'session-end',
      'archival',
      'transcripts',
      'slots',
      'awaited-grants',
    ])
    const priorities = systems.map(({ priority }) => priority)
    expect(priorities).toEqual([
      -120, -110, -100, -98, -97, -95, -94, -93, -90, -85, -80, -70, -60, -30, -29, -10, -5, -4, -3.5, -3.2, -3, -2.9,
      -2.8, -2.6, -2, -1, 0, 5, 10, 11, 11.5, 12, 12.2,
    ])
  })

  it.each([
    [{ maxStartsPerTick: 0 }, 'maxStartsPerTick: '],
    [{ maxStartsPerTick: 1.5 }, 'maxStartsPerTick: '],
    [{ maxStartsPerTick: Number.NaN }, 'maxStartsPerTick: '],
    [{ maxStart: 3 }, 'maxStart: no such field is known'],
    [{ defaultTimeoutMs: 0 }, 'defaultTimeoutMs: '],
    [{ allowUnregisteredSubagents: 'yes' }, 'allowUnregisteredSubagents: '],
  ])('refuse %j', (options: object, came) => {
    expect(() => standardSystems(options)).toThrow(EntiaError)
    expect(() => standardSystems(options)).toThrow(came)
  })
})
