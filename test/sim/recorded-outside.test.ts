import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  agent,
  Conversation,
  defineComponent,
  defineTool,
  LastTurn,
  Llm,
  memoryStore,
  not,
  Runner,
  type RunnerOptions,
  scripted,
  standardSystems,
  type Store,
  textOf,
  VirtualClock,
  World,
} from 'entia'
import * as components from 'entia/components'
import { Effect, Outcome, Pending } from 'entia/components'
import { z } from 'zod'
import {
  loadRecording,
  simulatedUser,
  saveRecording,
  simulate,
  type SimulateOptions,
  type SimulationResult,
} from '../../src/sim/index.ts'
import { clerk, lead, officeModels, officeTools, officeWorld } from './recorded-office.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'entia-recorded-'))
})

afterAll(() => rm(folder, { recursive: true }))

function officeRunner(store: Store, options: RunnerOptions = {}): Runner {
  const parts = { models: officeModels(), tools: officeTools(), clock: new VirtualClock() }
  return new Runner(officeWorld(), { store, record: true, ...parts, ...options })
}

/** Lets go of a run, and simulates it out of its recording. */
async function again(runner: Runner, store: Store, options: Partial<SimulateOptions> = {}): Promise<SimulationResult> {
  await runner.stop()
  const file = join(folder, `${runner.world.name}.entia`)
  await saveRecording(store, runner.world.name, file)
  const world = (seed: number): World => officeWorld({ seed })
  return simulate({ recording: await loadRecording(file), world, ...options })
}

describe('what came from outside into a recorded run', () => {
  it('comes again: answers of users, messages in mid-turn, changes and cancels', async () => {
    const store = memoryStore()
    const runner = officeRunner(store, { approve: 'by-input' })
    let asked = 0
    runner.on('approval-requested', ({ approval }) => {
      void runner.post({ kind: 'answer', approval, approved: asked++ > 0, reason: 'I say so' })
      void runner.message(lead, 'By the way')
    })
    await runner.start()
    await runner.idle()
    await runner.change((world) => world.patch(clerk, Llm, { temperature: 1 }))
    await runner.message(clerk, 'Once more')
    await runner.idle()
    await runner.message(clerk, 'And again')
    await runner.cancel(clerk, 'No, stop')
    await runner.idle()
    const result = await again(runner, store)
    expect(result.violation).toBeUndefined()
    expect(result.world.read(clerk, Llm)).toMatchObject({ temperature: 1 })
    expect(result.world.read(clerk, LastTurn).stop).toBe('cancelled')
    expect(result.hash).toBe(runner.world.hash())
  })

  it('stays away where users are simulated, and they act', async () => {
    const store = memoryStore()
    const runner = officeRunner(store, { approve: () => true })
    await runner.start()
    await runner.idle()
    const nobody = simulatedUser((seen) =>
      'approval' in seen && seen.type === 'approval-requested' ? { approve: false } : undefined,
    )
    const result = await again(runner, store, { users: { nobody }, onMiss: 'script', models: officeModels() })
    expect(result.violation).toBeUndefined()
    expect(result.missed).toMatchObject([
      { label: 'office', agent: clerk, step: 2, component: 'Conversation', kind: 'model' },
    ])
    expect(result.world.read(clerk, LastTurn).stop).toBe('done')
  })
})

describe('a recording', () => {
  it('of two processes replays in one, and what the first one left is interrupted', async () => {
    let stop: (() => void) | undefined
    const letter = defineTool({
      name: 'letter',
      description: 'Sends a letter.',
      input: z.object({}),
      restart: 'once',
      run: async (_, { sleep }) => {
        stop?.()
        await sleep(50)
        return 'sent'
      },
    })
    const made = (): World => {
      const world = new World({ name: 'once', seed: 4, systems: standardSystems() })
      world.spawn(...agent({ model: 'script/x', messages: 'Go', tools: [letter] }))
      return world
    }
    const script = scripted(
      ({ messages }) =>
        messages.filter(({ role }) => role === 'tool').length < 2 ? { toolCalls: [{ name: 'letter' }] } : 'Done.',
      { latencyMs: 30 },
    )
    const store = memoryStore()
    const options = { store, record: true, models: { script }, tools: [letter] }
    const first = new Runner(made(), { ...options, clock: new VirtualClock() })
    const stopped = new Promise<void>((resolve) => (stop = () => resolve(first.stop())))
    await first.start()
    await stopped
    stop = undefined
    const clock = new VirtualClock()
    const second = await Runner.open({ ...options, clock, name: 'once', systems: standardSystems(), components })
    await second.start()
    await second.idle()
    const result = await again(second, store, { world: made })
    expect(result.violation).toBeUndefined()
    expect(result.world.read(1, Conversation).map((message) => textOf(message))[2]).toContain('[interrupted]')
    expect(result.world.hash({ stable: true })).toBe(second.world.hash({ stable: true }))
  })

  it('that ends in the middle of a run is replayed to its end, which is told; from there scripts go on', async () => {
    const store = memoryStore()
    const runner = officeRunner(store, { approve: () => true })
    let calls = 0
    const stopped = new Promise<void>((resolve) => {
      runner.on('tool-called', () => {
        if (++calls === 3) resolve(runner.stop())
      })
    })
    await runner.start()
    await stopped
    const result = await again(runner, store)
    expect(result.violation).toMatchObject({ law: 'replay-mismatch' })
    expect(result.violation?.message).toContain('The recording ends while it is under way.')
    expect(result.hash).toBe(runner.world.hash())
    const scripts = { onMiss: 'script', models: officeModels(), tools: officeTools() } as const
    const further = await again(runner, store, scripts)
    expect(further.violation).toBeUndefined()
    for (const who of [lead, clerk]) expect(further.world.read(who, LastTurn).stop).toBe('done')
  })

  it('answers effects of a kind of one’s own, which is not done either', async () => {
    const Lookup = defineComponent('Lookup', () => z.strictObject({ name: z.string() }))
    const Found = defineComponent('Found', () => z.strictObject({ text: z.string() }))
    const lookups = {
      name: 'lookups',
      priority: 10,
      run(world: World) {
        for (const who of world.query(Lookup, not(Effect), not(Found))) {
          world.add(who, Effect({ kind: 'lookup', attempt: 1, restart: 'pure' }))
          world.add(who, Pending)
        }
        for (const who of world.query(Lookup, Outcome)) {
          const outcome = world.read(who, Outcome)
          world.remove(who, Outcome)
          world.remove(who, Effect)
          world.add(who, Found({ text: JSON.stringify(outcome) }))
        }
      },
    }
    const made = (): World => {
      const world = new World({ name: 'lookups', systems: [...standardSystems(), lookups] })
      for (const name of ['one', 'two', 'two']) world.spawn(Lookup({ name }))
      return world
    }
    let count = 0
    const lookup = {
      prepare:
        () =>
        async ({ sleep }: { readonly sleep: (ms: number) => Promise<void> }) => {
          const value = `found ${++count}`
          await sleep(100 - 10 * count)
          return { ok: true as const, value }
        },
    }
    const store = memoryStore()
    const runner = new Runner(made(), { store, record: true, clock: new VirtualClock(), effects: { lookup } })
    await runner.start()
    await runner.idle()
    const result = await again(runner, store, { world: made, components: [Lookup, Found] })
    expect(result.violation).toBeUndefined()
    expect(count).toBe(3)
    expect(result.hash).toBe(runner.world.hash())
    expect(result.virtualMs).toBe(90)
  })
})
