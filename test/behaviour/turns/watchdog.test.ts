import {
  agent,
  Conversation,
  defineTool,
  LastTurn,
  Runner,
  type ScriptedBehaviour,
  standardSystems,
  SubagentRegistry,
  textOf,
  type Tool,
  VirtualClock,
  World,
} from 'entia'
import { Context, type WatchdogSignal } from 'entia/context'
import * as components from 'entia/components'
import { WatchdogLatch, WatchdogState } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { expectValid, transcript } from '../../transcript.ts'
import { behaving, driven, type Driven } from './driving.ts'

type Mode = 'off' | 'warn' | 'feedback' | 'enforce'

const look = defineTool({
  name: 'look',
  description: 'Looks at a file.',
  input: z.object({ path: z.string(), line: z.number().optional() }),
  restart: 'pure',
  run: ({ path }) => `${path} is empty.`,
})

/** A model that looks at these paths, one after the other, and has then done. */
function looking(...paths: readonly string[]): ScriptedBehaviour {
  return ({ messages }) => {
    const path = paths[messages.filter(({ role }) => role === 'assistant').length]
    return path === undefined ? 'Done.' : { toolCalls: [{ name: 'look', arguments: { path } }] }
  }
}

async function ran(behaviour: ScriptedBehaviour, mode: Mode, signals: readonly WatchdogSignal[] = []) {
  const world = new World({ systems: standardSystems({ watchdog: signals }) })
  const parts = agent({ model: 'scripted/x', tools: [look], messages: 'Go' })
  const watched = world.spawn(...parts, Context({ watchdog: { mode } }))
  const { models, requests } = behaving(behaviour)
  const made = driven(world, { models, tools: [look] })
  await made.runner.start()
  await made.runner.idle()
  return { ...made, agent: watched, requests, models }
}

const times = (count: number, path: string): string[] => Array.from({ length: count }, () => path)
const alerts = ({ told }: Driven): number => told('watchdog-alerted').length
const note =
  '[watchdog] look has been called 5 times in a row with the same arguments. ' +
  'Another identical call will not help: change the approach, or say what blocks you.'

describe('an agent that goes in circles', () => {
  it('is noticed once, at the fifth of ten identical calls, and goes on', async () => {
    const made = await ran(looking(...times(10, 'a')), 'warn')
    expect(made.told('watchdog-alerted')).toMatchObject([
      { agent: made.agent, signal: 'repeated-tool-call', severity: 'critical', tool: 'look', callId: 'call-9-0' },
    ])
    expect(made.world.read(made.agent, LastTurn)).toMatchObject({ stop: 'done', toolCalls: 10 })
    expect(made.world.read(made.agent, WatchdogState).alerts).toBe(1)
  })

  it('is noticed again only after a different call', async () => {
    expect(alerts(await ran(looking(...times(10, 'a'), 'b', ...times(5, 'a')), 'warn'))).toBe(2)
  })

  it('is not noticed where calls take turns', async () => {
    expect(alerts(await ran(looking('a', 'b', 'a', 'b', 'a', 'b', 'a', 'b', 'a', 'b'), 'warn'))).toBe(0)
  })

  it('is not noticed where values differ as they are written', async () => {
    expect(alerts(await ran(looking('main.go', './main.go', 'main.go', './main.go', 'main.go'), 'warn'))).toBe(0)
  })

  it('is noticed whatever the order of the arguments', async () => {
    const made = await ran(({ messages }) => {
      const count = messages.filter(({ role }) => role === 'assistant').length
      const input = count % 2 === 0 ? '{"path":"a","line":1}' : '{"line":1,"path":"a"}'
      return count === 6 ? 'Done.' : { toolCalls: [{ name: 'look', arguments: input }] }
    }, 'warn')
    expect(alerts(made)).toBe(1)
  })

  it('is noticed where all calls stand in one message, and over turns', async () => {
    const made = await ran(({ messages }) => {
      if (messages.at(-1)?.role === 'tool') return 'Done.'
      return { toolCalls: [1, 2, 3].map(() => ({ name: 'look', arguments: { path: 'a' } })) }
    }, 'warn')
    expect(alerts(made)).toBe(0)
    await made.runner.message(made.agent, 'Again')
    await made.runner.idle()
    expect(alerts(made)).toBe(1)
  })

  it('is left alone where nobody watches', async () => {
    const made = await ran(looking(...times(9, 'a')), 'off')
    expect(alerts(made)).toBe(0)
    expect(made.world.has(made.agent, WatchdogState)).toBe(false)
  })
})

describe('a tool that may be called again and again', () => {
  /** Calls one tool with the same arguments in each of its first steps. */
  const repeating =
    (name: string, input: object = {}): ScriptedBehaviour =>
    ({ messages }) =>
      messages.filter(({ role }) => role === 'assistant').length === 7
        ? 'Done.'
        : { toolCalls: [{ name, arguments: input as never }] }

  it('is one that says so: it polls', async () => {
    const poll = (repeatable: boolean) =>
      defineTool({
        ...{ name: 'poll', description: 'Asks whether it is there.', input: z.object({}), restart: 'pure' },
        ...{ repeatable, run: () => 'Not yet.' },
      })
    const alertsOf = async (tool: Tool): Promise<number> => {
      const world = new World({ systems: standardSystems() })
      const parts = agent({ model: 'scripted/x', tools: [tool], messages: 'Go' })
      world.spawn(...parts, Context({ watchdog: { mode: 'enforce' } }))
      const made = driven(world, { models: behaving(repeating('poll')).models, tools: [tool] })
      await made.runner.start()
      await made.runner.idle()
      return alerts(made)
    }
    expect([await alertsOf(poll(true)), await alertsOf(poll(false))]).toEqual([0, 1])
  })

  it.each(['subagent_wait', 'subagent_status'])('is %s, by which an agent looks after its sessions', async (name) => {
    const world = new World({ systems: standardSystems() })
    const lead = world.spawn(
      ...agent({ model: 'scripted/x', messages: 'Go' }),
      Context({ watchdog: { mode: 'enforce' } }),
      SubagentRegistry({ subagents: {} }),
    )
    const made = driven(world, { models: behaving(repeating(name)).models })
    await made.runner.start()
    await made.runner.idle()
    expect(alerts(made)).toBe(0)
    expect(world.read(lead, LastTurn)).toMatchObject({ stop: 'done', toolCalls: 7 })
  })
})

describe('a signal of a program', () => {
  it("takes the built-in one's place by its name", async () => {
    const patient: WatchdogSignal = {
      name: 'repeated-tool-call',
      initial: 0,
      observe: (count) => {
        const seen = Number(count) + 1
        return { state: seen, ...(seen === 8 && { alert: { severity: 'warning', message: 'Eight calls.' } }) }
      },
    }
    const made = await ran(looking(...times(10, 'a')), 'warn', [patient])
    expect(made.told('watchdog-alerted')).toMatchObject([{ signal: 'repeated-tool-call', message: 'Eight calls.' }])
  })
})

describe('a watchdog that was off for a while', () => {
  /** The agent looks at each of these once, under a watchdog in that mode. */
  async function looks(made: Awaited<ReturnType<typeof ran>>, mode: Mode, paths: readonly string[]): Promise<void> {
    await made.runner.change((world) => world.patch(made.agent, Context, { watchdog: { mode, threshold: 5 } }))
    for (const path of paths) {
      await made.runner.message(made.agent, path)
      await made.runner.idle()
    }
  }
  const obedient: ScriptedBehaviour = ({ messages }) => {
    const path = textOf(messages.findLast(({ role }) => role === 'user'))
    const isOver = path === 'Go' || messages.at(-1)?.role === 'tool'
    return isOver ? 'Done.' : { toolCalls: [{ name: 'look', arguments: { path } }] }
  }

  it.each([
    ['begins a run of that time', ['b']],
    ['goes on with a run from before it', ['a', 'a']],
  ])('does not count a call that %s', async (_, before) => {
    const made = await ran(obedient, 'warn')
    await looks(made, 'warn', before)
    await looks(made, 'off', ['a', 'a'])
    await looks(made, 'warn', times(4, 'a'))
    expect(alerts(made)).toBe(0)
    await looks(made, 'warn', ['a'])
    expect(alerts(made)).toBe(1)
  })
})

describe('feedback', () => {
  it('tells the model once, and the note stays where it was', async () => {
    const { requests, world, agent: watched } = await ran(looking(...times(7, 'a')), 'feedback')
    const notes = requests.map(({ messages }) => messages.map(textOf).filter((text) => text === note).length)
    expect(notes).toEqual([0, 0, 0, 0, 0, 1, 1, 1])
    const placed = requests.slice(5).map(({ messages }) => messages.map(textOf).indexOf(note))
    expect(placed).toEqual([11, 11, 11])
    expectValid(world, watched)
  })

  it('keeps four notes at most, the newest', async () => {
    const chatty: WatchdogSignal = {
      name: 'chatty',
      initial: 0,
      observe: (state) => {
        const count = (state as number) + 1
        return { state: count, alert: { severity: 'warning', message: `Call ${count}.` } }
      },
    }
    const made = await ran(
      ({ messages }) =>
        messages.some(({ role }) => role === 'tool')
          ? 'Done.'
          : { toolCalls: times(6, 'a').map((path, line) => ({ name: 'look', arguments: { path, line } })) },
      'feedback',
      [chatty],
    )
    const said = made.world.read(made.agent, Conversation).map(textOf)
    expect(said.filter((text) => text.startsWith('[watchdog]'))).toEqual(
      [3, 4, 5, 6].map((count) => `[watchdog] Call ${count}.`),
    )
  })
})

describe('enforcing', () => {
  it('ends the turn, and stops the agent until it is reset', async () => {
    const made = await ran(looking(...times(9, 'a')), 'enforce')
    const { world, runner, agent: watched, requests } = made
    expect(world.read(watched, LastTurn)).toMatchObject({ stop: 'failed', steps: 5, failure: { kind: 'watchdog' } })
    expect(transcript(world, watched).slice(-2)).toEqual([
      'tool call-9-0!: [not run: stopped by the watchdog]',
      'assistant: [turn stopped by the watchdog]',
    ])
    expectValid(world, watched)
    expect(made.told('turn-error')).toMatchObject([{ kind: 'watchdog', retryable: false, agent: watched }])
    expect(world.has(watched, WatchdogLatch)).toBe(true)

    const length = world.read(watched, Conversation).length
    await runner.message(watched, 'Go on')
    await runner.idle()
    expect(requests).toHaveLength(5)
    expect(world.read(watched, Conversation)).toHaveLength(length)
    expect(made.told('turn-error').at(-1)).toMatchObject({ kind: 'watchdog', refused: true })

    await runner.resetWatchdog(watched)
    await runner.message(watched, 'Go on')
    await runner.idle()
    // The note that waited is told now, and the run is counted anew.
    expect(requests[5]?.messages.map(textOf)).toContain(note)
    expect(alerts(made)).toBe(1)
    expect(world.read(watched, LastTurn).stop).toBe('done')
  })

  it('lets the calls run that stand before the one that tripped', async () => {
    const made = await ran(
      () => ({ toolCalls: ['b', ...times(6, 'a')].map((path) => ({ name: 'look', arguments: { path } })) }),
      'enforce',
    )
    const results = transcript(made.world, made.agent).filter((line) => line.startsWith('tool'))
    expect(results.map((line) => line.replace(/^tool \S+ /, ''))).toEqual([
      'b is empty.',
      ...times(4, 'a is empty.'),
      ...times(2, '[not run: stopped by the watchdog]'),
    ])
    expectValid(made.world, made.agent)
  })

  it('is as it was after save and restore', async () => {
    const { world, agent: watched, models } = await ran(looking(...times(9, 'a')), 'enforce')
    const again = World.restore([...world.snapshot()], { systems: standardSystems(), components })
    const runner = new Runner(again, { clock: new VirtualClock(), models, tools: [look] })
    const refused: unknown[] = []
    runner.on('turn-error', (event) => refused.push(event.refused))
    await runner.start()
    await runner.message(watched, 'Go on')
    await runner.idle()
    await runner.stop()
    expect(refused).toEqual([true])
  })
})

describe('a signal of a program', () => {
  it('that throws or gives rubbish is named, and disturbs nobody', async () => {
    const broken: WatchdogSignal = {
      name: 'broken',
      initial: null,
      observe: () => {
        throw new Error('No.')
      },
    }
    const odd = { name: 'odd', initial: null, observe: () => ({ state: Number.NaN }) } as const
    const made = await ran(looking(...times(5, 'a')), 'warn', [broken, odd])
    expect(alerts(made)).toBe(1)
    const warnings = new Set(made.told('warning').map(({ message }) => message))
    expect([...warnings]).toEqual([
      "The watchdog signal 'broken' is passed over: No.",
      expect.stringContaining("The watchdog signal 'odd' is passed over"),
    ])
    expect(made.world.read(made.agent, LastTurn).stop).toBe('done')
  })

  it('that is none is refused with the systems', () => {
    const signals = [{ name: 'x' }] as never
    expect(() => standardSystems({ watchdog: signals })).toThrow(/watchdog.*signal/)
  })
})
