import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  agent,
  memoryStore,
  type Price,
  Runner,
  scripted,
  replay,
  standardSystems,
  Usage,
  VirtualClock,
  World,
} from 'entia'
import * as components from 'entia/components'
import { loadRecording, saveRecording, simulate } from 'entia/sim'

const folder = await mkdtemp(join(tmpdir(), 'entia-prices-'))
afterAll(() => rm(folder, { recursive: true }))

const answers = scripted(() => 'Hi.', { usage: { input: 1_000, output: 100 } })

function world(seed = 7): World {
  const made = new World({ name: 'priced', seed, systems: standardSystems() })
  made.spawn(...agent({ model: 'dear/x', messages: 'Hello' }))
  return made
}

async function recorded(prices: Readonly<Record<string, Price>>) {
  const store = memoryStore()
  const options = { store, record: true, clock: new VirtualClock(), models: { dear: answers }, prices }
  const runner = new Runner(world(), options)
  await runner.start()
  await runner.idle()
  await runner.stop()
  const file = join(folder, 'run.entia')
  await saveRecording(store, 'priced', file)
  return { saved: await loadRecording(file), world: runner.world }
}

describe('a recorded run', () => {
  it('costs what it did, whatever its models cost by now', async () => {
    const { saved, world: ran } = await recorded({ dear: { input: 3, output: 15, contextWindow: 8_000 } })
    expect(ran.read(1, Usage).costNanoUsd).toBe(4_500_000)
    expect(replay(saved, { systems: standardSystems(), components }).worlds[0]?.hash).toBe(ran.hash())
    for (const prices of [{}, { 'dear/x': { input: 7, output: 7, contextWindow: 9_000 } }]) {
      const again = await simulate({ recording: saved, world, prices, models: { dear: answers } })
      expect(again.violation).toBeUndefined()
      expect(again.hash).toBe(ran.hash())
    }
  })

  it('costs something else where it is run again under other prices', async () => {
    const { world: first } = await recorded({ dear: { input: 3, output: 15 } })
    const { world: second } = await recorded({ dear: { input: 7, output: 7 } })
    expect(second.read(1, Usage).costNanoUsd).toBe(7_700_000)
    expect(second.hash()).not.toBe(first.hash())
  })
})
