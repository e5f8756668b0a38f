import {
  EntiaError,
  memoryStore,
  Paused,
  Runner,
  type RunnerEvent,
  type RunnerEvents,
  standardSystems,
  type System,
  VirtualClock,
  World,
} from 'entia'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { addAgent, behaving, driven, gate, reopened, turns } from '../../behaviour/turns/driving.ts'

declare module 'entia' {
  interface OwnInputs {
    provoke: { readonly how?: string }
  }
}

/** Writes something, then does this, whenever it is provoked. */
function touchy(run: (world: World) => unknown): System {
  return {
    name: 'touchy',
    inputs: ['provoke'],
    priority: 10,
    run: (world) => {
      if (!world.inputs.some(({ kind }) => kind === 'provoke')) return undefined
      world.spawn()
      return run(world)
    },
  }
}

function scene(run: (world: World) => unknown) {
  const world = new World({ systems: [...standardSystems(), touchy(run)] })
  return { world, agent: addAgent(world), models: behaving(() => 'Hi').models }
}

const bad: readonly [string, (world: World) => unknown, string][] = [
  [
    'throws an error',
    () => {
      throw new Error('too much')
    },
    'too much',
  ],
  [
    'throws a text',
    () => {
      throw 'too much' as unknown
    },
    "'too much'",
  ],
  [
    'throws what cannot be read',
    () => {
      throw Object.create(null) as unknown
    },
    'null prototype',
  ],
  ['writes what is not allowed', (world) => world.add(999, Paused), 'Entity 999 does not exist'],
  ['returns a promise', async () => undefined, 'it returned a promise; a system is synchronous'],
  ['returns a promise that rejects', async () => Promise.reject(new Error('later')), 'it returned a promise'],
  ['tells what is no JSON', (world) => world.emit({ type: 'odd', count: 5n as never }), 'a bigint'],
  ['posts', (world) => world.post({ kind: 'more' }), "A system cannot post 'more'"],
]

describe('a system that', () => {
  it.each(bad)('%s ends the run: system, tick and input are named', async (_, run, reason) => {
    const { world, models } = scene(run)
    const { runner } = driven(world, { models })
    await runner.start()
    await runner.idle()
    const posted = runner.post({ kind: 'provoke', how: 'badly' })
    const failure = await posted.catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(EntiaError)
    expect(failure).toMatchObject({ code: 'system-failed', details: { system: 'touchy', tick: 3 } })
    expect((failure as EntiaError).message).toMatch(
      /^System 'touchy' failed in tick 3 of world 'world' \(inputs: provoke\): /,
    )
    expect((failure as EntiaError).message).toContain(reason)
    expect((failure as EntiaError).details['inputs']).toEqual([{ kind: 'provoke', how: 'badly' }])
    await turns()
  })
})

/** Fails in the tick that brings in what a model has answered. */
function allergic(world: World): void {
  if (world.inputs.some(({ kind }) => kind === 'outcome')) throw new Error('too much')
}

describe('a Runner that fails on an outcome, which no one has posted', () => {
  const outcomeScene = () => {
    const world = new World({ systems: [...standardSystems(), { name: 'allergic', priority: 10, run: allergic }] })
    addAgent(world)
    return new Runner(world, { clock: new VirtualClock(), models: behaving(() => 'Hi').models })
  }

  const warnings = () => {
    const emitted = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    onTestFinished(() => emitted.mockRestore())
    return emitted
  }

  it.each(['runner-failed', '*'] as const)('emits runner-failed with the error to listeners for %s', async (type) => {
    const runner = outcomeScene()
    onTestFinished(() => runner.stop())
    const failed = new Promise<RunnerEvent>((resolve) => {
      runner.on(type as '*', (event) => {
        if (event.type === 'runner-failed') resolve(event)
      })
    })
    await runner.start()
    const event = await failed
    expect(event).toMatchObject({ type: 'runner-failed', world: 'world', code: 'system-failed' })
    expect(event).toMatchObject({ error: expect.any(EntiaError), message: expect.stringContaining('too much') })
    await expect(runner.idle()).rejects.toBe((event as RunnerEvents['runner-failed']).error)
    await turns(5)
  })

  it('warns the process if there is no listener and no promise that rejects', async () => {
    const emitted = warnings()
    const runner = outcomeScene()
    onTestFinished(() => runner.stop())
    await runner.start()
    await expect.poll(() => emitted).toHaveBeenCalled()
    expect(emitted).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining("The Runner of world 'world' has failed: System 'allergic' failed in tick 2"),
      expect.objectContaining({ type: 'EntiaWarning', code: 'ENTIA_RUNNER_FAILED' }),
    )
  })

  it('rejects what waits for it, and emits no warning', async () => {
    const emitted = warnings()
    const runner = outcomeScene()
    onTestFinished(() => runner.stop())
    await runner.start()
    await expect(runner.idle()).rejects.toThrow('too much')
    await turns(5)
    expect(emitted).not.toHaveBeenCalled()
  })
})

describe('a Runner whose system failed', () => {
  const failing = () => {
    throw new Error('too much')
  }

  it('rejects with the same from then on, starts nothing, and does not tick', async () => {
    const { world, agent, models } = scene(failing)
    const { runner, told } = driven(world, { models })
    await runner.start()
    await runner.idle()
    const idle = (async () => {
      void runner.message(agent, 'waiting').catch(() => undefined)
      await runner.idle()
    })()
    const failures = await Promise.allSettled([runner.post({ kind: 'provoke' }), idle])
    const reasons = failures.map((failure) => failure.status === 'rejected' && (failure.reason as EntiaError).code)
    expect(reasons).toEqual(['system-failed', 'system-failed'])
    const { tick } = world
    await expect(runner.message(agent, 'Hello?')).rejects.toMatchObject({ code: 'system-failed' })
    await expect(runner.change(() => 1)).rejects.toMatchObject({ code: 'system-failed' })
    await expect(runner.idle()).rejects.toMatchObject({ code: 'system-failed' })
    expect(() => world.post({ kind: 'provoke' })).toThrow(expect.objectContaining({ code: 'system-failed' }))
    await turns(10)
    expect(world.tick).toBe(tick)
    expect(told('turn-started')).toHaveLength(1)
  })

  it('leaves the world as the last tick left it, to be driven by another', async () => {
    const { world, agent, models } = scene(failing)
    const first = driven(world, { models })
    await first.runner.start()
    await first.runner.idle()
    const before = world.hash()
    await Promise.allSettled([first.runner.post({ kind: 'provoke' }), first.runner.message(agent, 'set aside')])
    expect(world.hash()).toBe(before)
    await first.runner.stop()
    const second = driven(world, { models })
    await second.runner.start()
    await second.runner.message(agent, 'Hello')
    await second.runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi', 'user: Hello', 'assistant: Hi'])
    expectValid(world, agent)
  })

  it('has committed what was before it, and a new one goes on from there', async () => {
    const store = memoryStore()
    const { world, agent, models } = scene(failing)
    const first = driven(world, { models, store })
    await first.runner.start()
    await first.runner.idle()
    const before = world.hash()
    await expect(first.runner.post({ kind: 'provoke' })).rejects.toThrow('too much')
    await first.runner.stop()
    const second = await reopened(store, { models })
    expect(second.world.hash()).toBe(before)
    await second.runner.start()
    await second.runner.message(agent, 'Hello')
    await second.runner.idle()
    expect(transcript(second.world, agent).at(-1)).toBe('assistant: Hi')
  })

  it('while work was under way aborts it, and the next one does it again', async () => {
    const { world, agent } = scene(failing)
    const [begun, aborted] = [gate(), gate()]
    let isFirst = true
    const { models } = behaving((_request, { signal }) => {
      begun.resolve()
      if (!isFirst) return 'Hi'
      isFirst = false
      signal.addEventListener('abort', () => aborted.resolve())
      return new Promise<never>(() => undefined)
    })
    const first = driven(world, { models })
    await first.runner.start()
    await begun.promise
    await expect(first.runner.post({ kind: 'provoke' })).rejects.toThrow('too much')
    await aborted.promise
    await first.runner.stop()
    const second = driven(world, { models })
    await second.runner.start()
    await second.runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi'])
  })
})
