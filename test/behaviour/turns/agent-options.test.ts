import { agent, declare, fail, Llm } from 'entia'
import { ToolRegistry } from 'entia/components'
import { spawnSubagentDeclaration } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { behaving, calling, settled, worldWith } from './driving.ts'
import { wait } from './tools.ts'

describe('an agent', () => {
  it('whose options say how its model is called has every call made so', async () => {
    const { models, requests } = behaving(() => 'Hi')
    const { world } = worldWith({ temperature: 0, maxOutputTokens: 100, thinking: 'low' })
    await settled(world, { models })
    expect(requests[0]).toMatchObject({ options: { temperature: 0, maxOutputTokens: 100, thinking: 'low' } })
  })

  it('whose calls are never tried again fails with the first', async () => {
    const { models, requests } = behaving(() => fail('overloaded', { message: 'busy' }))
    const { world } = worldWith({ retry: false })
    await settled(world, { models })
    expect(requests).toHaveLength(1)
  })

  it('whose calls may take so long has each try ended by then', async () => {
    const { models } = behaving(() => 'Hi', { latencyMs: 1_000 })
    const { world } = worldWith({ retry: false, timeoutMs: 250 })
    const { told } = await settled(world, { models })
    expect(told('model-failed')).toMatchObject([{ failure: { kind: 'timed-out' } }])
    expect(world.nowMs).toBe(250)
  })

  it('leaves to its provider what its options leave out', () => {
    expect(agent({ model: 'scripted/x' })[0]).toEqual(Llm({ model: 'scripted/x' }))
  })

  it.each<[string, object, string]>([
    [
      'no known effort',
      { thinking: 'loads' },
      'at thinking: Invalid option: expected one of "low"|"medium"|"high", or ',
    ],
    ['part of a policy', { retry: { maxAttempts: 2 } }, 'at retry: firstDelayMs: Invalid input: expected number'],
    ['true for a policy', { retry: true }, 'at retry: Invalid input: expected object, received boolean, or '],
  ])('refuses an option of several forms that has %s, and says what each wants', (_, options, problem) => {
    expect(() => agent({ model: 'scripted/x', ...options })).toThrow(problem)
  })

  it('takes declarations besides tools, in the order given', () => {
    const parts = agent({ model: 'scripted/x', tools: [spawnSubagentDeclaration, wait] })
    expect(parts).toContainEqual(ToolRegistry({ tools: [spawnSubagentDeclaration, ...declare(wait)] }))
  })

  it('may call a world tool that it was given by its declaration', async () => {
    const { models } = behaving(calling({ name: 'spawn_subagent', arguments: {} }))
    const { world } = worldWith({ tools: [spawnSubagentDeclaration] })
    const { told } = await settled(world, { models })
    expect(told('tool-called')).toMatchObject([{ tool: 'spawn_subagent' }])
  })
})
