import { fail, LastTurn, memoryStore } from 'entia'
import { StepStopped, Turn } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { behaving, calling, driven, gate, mortal, reopened, turns, worldWith } from './driving.ts'
import { tool } from './tools.ts'

/** Work that waits for its signal alone. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
}

/** Three calls under way, of which one has its result. */
function calls() {
  const begun: string[] = []
  const tools = (['quick', 'pure', 'once'] as const).map((name) =>
    tool(
      name,
      ({ signal }) => {
        begun.push(name)
        return name === 'quick' ? 'Here.' : untilAborted(signal)
      },
      { restart: name === 'once' ? 'once' : 'pure' },
    ),
  )
  const all = (): boolean => begun.length === 3
  return { tools, all, names: tools.map(({ declaration: { name } }) => ({ name })) }
}

describe('an agent whose step is stopped', () => {
  it('while its model writes has the call aborted, keeps none of it, and answers the next message in the same turn', async () => {
    const { world, agent } = worldWith()
    const begun = gate()
    const { models } = behaving(async ({ messages }, { signal }) => {
      if ([...messages].length > 1) return 'I see.'
      begun.resolve()
      return untilAborted(signal)
    })
    const { runner, told } = driven(world, { models })
    await runner.start()
    await begun.promise
    await runner.stopStep(agent)
    await runner.idle()
    expect(world.has(agent, Turn)).toBe(true)
    expect(transcript(world, agent)).toEqual(['user: Go'])
    await runner.message(agent, 'Another way.')
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Go', 'user: Another way.', 'assistant: I see.'])
    expect(told('turn-started')).toHaveLength(1)
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'done', steps: 2 })
  })

  it('while tools run keeps the results it has, answers the others as cancelled, and goes on when spoken to', async () => {
    const { all, names, tools } = calls()
    const { world, agent } = worldWith({ tools })
    const { models } = behaving(calling(...names))
    const { runner, told } = driven(world, { models, tools })
    await runner.start()
    while (!all()) await turns(1)
    await runner.stopStep(agent)
    await runner.idle()
    expect(told('step-stopped')).toHaveLength(1)
    expect(transcript(world, agent).slice(2)).toEqual([
      'tool call-1-0: Here.',
      'tool call-1-1!: [cancelled by the user]',
      'tool call-1-2!: [cancelled by the user; it may have taken effect]',
    ])
    await runner.message(agent, 'Leave it.')
    await runner.idle()
    expect(transcript(world, agent).slice(5)).toEqual(['user: Leave it.', 'assistant: Done.'])
    expectValid(world, agent)
    expect(runner.stats.inFlight).toBe(0)
  })

  it('reads at once what was said to it during the step', async () => {
    const { all, names, tools } = calls()
    const { world, agent } = worldWith({ tools })
    const { models } = behaving(calling(...names))
    const { runner } = driven(world, { models, tools })
    await runner.start()
    while (!all()) await turns(1)
    await runner.message(agent, 'Do the other thing.')
    await runner.stopStep(agent)
    await runner.idle()
    expect(transcript(world, agent).slice(5)).toEqual(['user: Do the other thing.', 'assistant: Done.'])
  })

  it('stays so over a crash, until it is spoken to', async () => {
    const { all, names, tools } = calls()
    const { world, agent } = worldWith({ tools })
    const store = memoryStore()
    const { models } = behaving(calling(...names))
    const first = mortal(world, { models, tools, store })
    await first.runner.start()
    while (!all()) await turns(1)
    await first.runner.stopStep(agent)
    await first.runner.stop()
    const { runner, world: restored } = await reopened(store, { models, tools })
    await runner.start()
    await runner.idle()
    expect(restored.has(agent, StepStopped)).toBe(true)
    await runner.message(agent, 'On we go.')
    await runner.idle()
    expect(transcript(restored, agent).slice(5)).toEqual(['user: On we go.', 'assistant: Done.'])
  })

  it('can be cancelled, which ends its turn', async () => {
    const { world, agent } = worldWith()
    const begun = gate()
    const { models } = behaving(async (_, { signal }) => {
      begun.resolve()
      return untilAborted(signal)
    })
    const { runner } = driven(world, { models })
    await runner.start()
    await begun.promise
    await runner.stopStep(agent)
    await runner.cancel(agent)
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: [turn cancelled]'])
    expect(world.has(agent, StepStopped)).toBe(false)
  })

  it('while its call waits for another try is tried no more', async () => {
    const { world, agent } = worldWith()
    const retry = { maxAttempts: 5, firstDelayMs: 1e9, maxDelayMs: 1e9, kinds: ['overloaded' as const] }
    const { models, requests } = behaving(() => fail('overloaded'), { retry })
    const { runner, next } = driven(world, { models })
    const scheduled = next('retry-scheduled')
    await runner.start()
    await scheduled
    await runner.stopStep(agent)
    await runner.idle()
    expect(requests).toHaveLength(1)
  })

  it('in the last step that its turn may take ends the turn, so that the next message opens another', async () => {
    const { all, names, tools } = calls()
    const { world, agent } = worldWith({ tools, maxSteps: 1 })
    const { models } = behaving(calling(...names))
    const { runner } = driven(world, { models, tools })
    await runner.start()
    while (!all()) await turns(1)
    await runner.stopStep(agent)
    await runner.idle()
    expect(world.read(agent, LastTurn).stop).toBe('max-steps')
    expect(world.has(agent, Turn)).toBe(false)
  })

  it('without a turn is left alone, and the one who asked is refused', async () => {
    const { world, agent } = worldWith()
    const { runner, told } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    await runner.idle()
    await runner.stopStep(agent)
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi'])
    expect(told('input-refused')).toMatchObject([{ kind: 'cancel', reason: 'no turn is open' }])
  })
})
