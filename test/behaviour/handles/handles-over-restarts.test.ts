import { join } from 'node:path'
import {
  memoryStore,
  type ModelRequest,
  replay,
  Runner,
  type RunnerOptions,
  standardSystems,
  VirtualClock,
  World,
} from 'entia'
import * as components from 'entia/components'
import { Handle } from 'entia/components'
import { describe, expect, it } from 'vitest'
import type { InputOf } from '../../../src/protocol/input.ts'
import { loadRecording, saveRecording, simulate } from '../../../src/sim/index.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { transcript } from '../../transcript.ts'
import { stores } from '../sessions/kinds-of-stores.ts'
import { type CommittedTick, mortalStore, watchedStore } from '../stores/watched-store.ts'
import { behaving, driven, mortal, reopened, settled, turns } from '../turns/driving.ts'
import { giving, numbers, read, readHandle, workshop } from './stored-values.ts'

const give = giving(numbers(60))
const list = 'list of 60 numbers: 1, 2, 3, 4, 5, 6, 7, 8, …'

/** Has numbers given for the first message, and reads the newest handle for each further one. */
function clerk({ messages }: ModelRequest) {
  const isAsked = messages.at(-1)?.role === 'user'
  if (!isAsked) return 'Done.'
  const isFirst = !messages.some(({ role }) => role === 'tool')
  return { toolCalls: [isFirst ? { name: 'give', arguments: {} } : read('.h_001', { op: 'print', limit: 2 })] }
}

const { models } = behaving(clerk)
const options: RunnerOptions = { models, tools: [give, readHandle] }

/** What the model read of its calls. */
function results(world: World, agent: number): string[] {
  return transcript(world, agent).filter((line) => line.startsWith('tool '))
}

const stored = `${list}\n[stored as .h_001]`
const firstTwo = '1\n2\n[elements 1-2 of 60; read on with op=print, offset=2]'

describe('a stored value', () => {
  it.each(stores)('is there after a restart: %s', async (_, open) => {
    const store = await open()
    const { world, agent } = workshop([give])
    await settled(world, { ...options, store })
    const again = await reopened(store, options)
    await again.runner.start()
    await again.runner.message(agent, 'Read it')
    await again.runner.idle()
    expect(results(again.world, agent)).toEqual([`tool call-1-0: ${stored}`, expect.stringContaining(firstTwo)])
  })

  it('is in the store before its handle is committed', async () => {
    const inner = memoryStore()
    const values: unknown[] = []
    const store = watchedStore(inner, {
      async before(ticks) {
        for (const input of ticks.flatMap(({ inputs }) => inputs)) {
          if (input.kind !== 'handle-kept') continue
          const { entry } = input as InputOf<'handle-kept'>
          values.push(JSON.parse((await inner.getText('world', entry.recordPath ?? '')) ?? 'null'))
        }
      },
    })
    await settled(workshop([give]).world, { ...options, store })
    expect(values).toEqual([numbers(60)])
  })

  it('is in the world, where no store has it', async () => {
    const { world, agent } = workshop([give])
    await settled(world, options)
    const copy = World.restore(world.snapshot(), { systems: standardSystems(), components })
    const again = driven(copy, options)
    await again.runner.start()
    await again.runner.message(agent, 'Read it')
    await again.runner.idle()
    expect(results(copy, agent)[1]).toContain(firstTwo)
  })

  it('that is too large for a world without a store can be read until the Runner stops, and is named as gone from then on', async () => {
    const { world, agent } = workshop([give])
    const small = { ...options, maxRecordBytes: 10 }
    const first = driven(world, small)
    await first.runner.start()
    await first.runner.idle()
    await first.runner.message(agent, 'Read it')
    await first.runner.idle()
    expect(results(world, agent)[1]).toContain(firstTwo)
    await first.runner.stop()
    const again = driven(World.restore(world.snapshot(), { systems: standardSystems(), components }), small)
    await again.runner.start()
    await again.runner.message(agent, 'Read it again')
    await again.runner.idle()
    expect(results(again.world, agent)[2]).toContain('Error: the value of .h_001 is gone')
  })
})

const deaths: readonly (readonly [string, (tick: CommittedTick) => boolean])[] = [
  ['the content is stored and its handle is not', ({ inputs }) => inputs.some(({ kind }) => kind === 'handle-kept')],
  [
    'the handle is committed and the result of the call is not',
    ({ inputs }) => inputs.some((input) => input.kind === 'outcome' && JSON.stringify(input).includes('stored as')),
  ],
]

describe('a process that dies when', () => {
  it.each(deaths)('%s loses nothing: the call runs again and has the same handle', async (_, isFatal) => {
    const kept = memoryStore()
    const { die, store: dying } = mortalStore(kept)
    const dead = Promise.withResolvers<void>()
    const store = watchedStore(dying, {
      async before(ticks) {
        if (!ticks.some(isFatal)) return
        die()
        await turns()
        dead.resolve()
        await new Promise<never>(() => undefined)
      },
    })
    const { world, agent } = workshop([give])
    void mortal(world, { ...options, store }).runner.start()
    await dead.promise
    const again = await reopened(kept, options)
    await again.runner.start()
    await again.runner.idle()
    expect(results(again.world, agent)).toEqual([`tool call-1-0: ${stored}`])
    expect(again.world.query(Handle)).toHaveLength(1)
    await again.runner.message(agent, 'Read it')
    await again.runner.idle()
    expect(results(again.world, agent)[1]).toContain(firstTwo)
  })
})

describe('a recording', () => {
  it('is replayed without the values: no tool runs, and no store is read', async () => {
    const folder = await tempFolder()
    const store = memoryStore()
    const made = workshop([give])
    const runner = new Runner(made.world, { ...options, clock: new VirtualClock(), record: true, store })
    await runner.start()
    await runner.idle()
    await runner.message(made.agent, 'Read it')
    await runner.idle()
    await runner.stop()
    const file = join(folder, 'world.entia')
    await saveRecording(store, 'world', file)
    const recording = await loadRecording(file)
    const { worlds } = replay(recording, { systems: standardSystems(), components })
    expect(worlds.map(({ difference }) => difference)).toEqual([undefined])
    const { hash, missed, violation } = await simulate({ recording, world: () => workshop([give]).world })
    expect([violation, missed]).toEqual([undefined, []])
    expect(hash).toBe(made.world.hash())
  })
})
