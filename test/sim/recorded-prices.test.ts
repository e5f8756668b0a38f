import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, defineTool, memoryStore, scripted, standardSystems, World } from 'entia'
import { onTestFinished, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { loadRecording, saveRecording, simulate } from '../../src/sim/index.ts'
import { driven } from '../behaviour/turns/driving.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  restart: 'pure',
  run: () => 'Nothing.',
})

function thriftyWorld(): World {
  const world = new World({ systems: standardSystems() })
  const config = { ceilings: { maxTurnCostUsd: 0.05 } }
  world.spawn(...agent({ model: 'scripted/x', tools: [look], messages: 'Go', config }))
  return world
}

describe('a recorded run under a ceiling', () => {
  it('ends the same in a simulation, whatever models cost there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'entia-prices-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const store = memoryStore()
    const restless = scripted(() => ({ toolCalls: [{ name: 'look' }] }), { usage: { input: 1_000, output: 0 } })
    const prices = { 'scripted/x': { input: 10, output: 10 } }
    const { runner, world } = driven(thriftyWorld(), {
      models: { scripted: restless },
      tools: [look],
      prices,
      store,
      record: true,
    })
    await runner.start()
    await runner.idle()
    await runner.resetCostCeiling(1)
    await runner.message(1, 'More')
    await runner.idle()
    await runner.stop()
    const file = join(folder, 'thrifty.entia')
    await saveRecording(store, 'world', file)
    const dear = { 'scripted/x': { input: 99, output: 99 } }
    const again = await simulate({ world: thriftyWorld, recording: await loadRecording(file), prices: dear })
    expect(again.violation).toBeUndefined()
    expect(again.missed).toEqual([])
    expect(again.hash).toBe(world.hash())
  })
})
