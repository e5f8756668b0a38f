import { agent, Conversation, defineTool, scripted, standardSystems, textOf, World } from 'entia'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  law,
  simulatedUser,
  simulate,
  type SimulateOptions,
  type SimulationResult,
  sweep,
  type SweepRun,
} from '../../src/sim/index.ts'

interface Task {
  readonly sum: readonly [number, number]
  readonly answer: string
}

const tasks: readonly Task[] = [
  { sum: [2, 3], answer: '5' },
  { sum: [1, 1], answer: '3' },
]

const calculator = {
  models: { script: scripted(({ messages }) => String(sumOf(textOf(messages.at(-1))))) },
  world: (seed: number, { sum }: Task) => asking(seed, `${sum[0]} + ${sum[1]}`),
  forCase: ({ answer }: Task) => ({
    laws: [
      law('the answer is right', {
        finished: ({ worlds }) => [...worlds.values()].every(({ world }) => lastOf(world) === answer),
      }),
    ],
  }),
}

function sumOf(text: string): number {
  return text.split(' + ').reduce((sum, number) => sum + Number(number), 0)
}

function asking(seed: number, messages: string): World {
  const world = new World({ name: 'sums', seed, systems: standardSystems() })
  world.spawn(...agent({ model: 'script/x', messages }))
  return world
}

function lastOf(world: World): string {
  return textOf(world.read(1, Conversation).at(-1))
}

describe('a sweep over cases', () => {
  it('runs each case under each seed, and has a result for each run', async () => {
    const heard: string[] = []
    const onResult = ({ world }: SimulationResult, task: Task): void => {
      heard.push(`${task.sum.join(' + ')} = ${lastOf(world)}`)
    }
    const swept = await sweep({ ...calculator, cases: tasks, seeds: 2, keepGoing: true, onResult })
    const broken = { ok: false, law: 'the answer is right' }
    expect(swept.results).toEqual<SweepRun[]>([
      { case: 0, seed: 1, ok: true },
      { case: 0, seed: 2, ok: true },
      { case: 1, seed: 1, ...broken },
      { case: 1, seed: 2, ...broken },
    ])
    expect(heard).toEqual(['2 + 3 = 5', '2 + 3 = 5', '1 + 1 = 2', '1 + 1 = 2'])
    expect(swept.failure?.report).toMatch(/^Case 1: \{ sum: \[ 1, 1 \], answer: '3' \}\n/)
  })

  it('is refused without a case', async () => {
    await expect(sweep({ ...calculator, cases: [], seeds: 1 })).rejects.toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining('cases must be a list of one case or more, got an empty list'),
    })
  })
})

describe('a tool', () => {
  it('is told which agent calls it, and in which world', async () => {
    const callers: string[] = []
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.object({}),
      restart: 'pure',
      run: (_, { agent: caller, world }) => void callers.push(`${world} ${caller}`),
    })
    const world = (seed: number) => {
      const made = new World({ name: 'office', seed, systems: standardSystems() })
      for (let count = 0; count < 2; count++) {
        made.spawn(...agent({ model: 'script/x', tools: [look], messages: 'Look.' }))
      }
      return made
    }
    const script = scripted(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'Seen.' : { toolCalls: [{ name: 'look' }] },
    )
    await simulate({ world, models: { script }, tools: [look] })
    expect(callers.toSorted()).toEqual(['office 1', 'office 2'])
  })
})

describe('a simulated user', () => {
  it('sees the text of the agent, and may answer it', async () => {
    const script = scripted(({ messages }) =>
      messages.length === 1 ? 'For how many?' : `Booked for ${textOf(messages.at(-1))}.`,
    )
    const guest = simulatedUser((seen, { text }) => {
      return seen.type === 'turn-ended' && text === 'For how many?' ? { say: 'two' } : undefined
    })
    const world = (seed: number) => asking(seed, 'A table, please.')
    const result = await simulate({ world, models: { script }, users: { guest } })
    expect([result.ok, lastOf(result.world)]).toEqual([true, 'Booked for two.'])
  })
})

describe('a scripted model', () => {
  const broken = { model: { overloaded: 0 } }
  it.each([
    ['gives what is no answer', () => 7 as never, /answered with 7/],
    [
      'throws',
      () => {
        throw new TypeError('no such plan')
      },
      /TypeError: no such plan\n\s+at /,
    ],
    ['gives a promise that rejects', () => Promise.reject(new Error('gone')), /Error: gone/],
  ])('that %s fails the run with what was thrown', async (_, behaviour, message) => {
    const options: SimulateOptions = {
      world: (seed) => asking(seed, '1 + 1'),
      models: { script: scripted(behaviour) },
      faults: broken,
    }
    const { ok, violation } = await simulate(options)
    expect(ok).toBe(false)
    expect(violation).toMatchObject({ law: 'models-answer', message: expect.stringMatching(message) as string })
  })
})

describe('a fault of a list', () => {
  it('that strikes nowhere fails the run by its name, with how far the run came', async () => {
    const world = (seed: number) => asking(seed, '1 + 1')
    const { models } = calculator
    const { ok, violation } = await simulate({
      ...{ world, models },
      faults: [
        { what: 'model.overloaded', at: 'sums model 1' },
        { what: 'model.overloaded', at: 'sums model 999' },
      ],
    })
    expect(ok).toBe(false)
    expect(violation).toMatchObject({
      law: 'faults-strike',
      message: expect.stringMatching(
        /^model\.overloaded at 'sums model 999' struck nowhere\. .* 'sums model 1' at most\. Take it out/,
      ) as string,
    })
  })
})
