import { EntiaError, standardSystems } from 'entia'
import { describe, expect, it } from 'vitest'

describe('the standard systems', () => {
  it('stand in the order in which they run', () => {
    const systems = standardSystems()
    expect(systems.map(({ name }) => name)).toEqual([
      'receipts',
      'restart',
      'settlement',
      'cancellation',
      'reception',
      'retry',
      'reply',
      'turn-end',
      'tool-results',
      'limits',
      'prompt-rendering',
      'reasoning',
      'tool-execution',
    ])
    const priorities = systems.map(({ priority }) => priority)
    expect(priorities).toEqual([-120, -110, -100, -95, -90, -85, -80, -70, -60, -3, -2, 0, 5])
  })

  it.each([
    [{ maxStartsPerTick: 0 }, 'came 0'],
    [{ maxStartsPerTick: 1.5 }, 'came 1.5'],
    [{ maxStartsPerTick: Number.NaN }, 'came NaN'],
    [{ maxStart: 3 }, 'came option maxStart'],
  ])('refuse %j', (options: object, came) => {
    expect(() => standardSystems(options)).toThrow(EntiaError)
    expect(() => standardSystems(options)).toThrow(came)
  })
})
