import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { World } from 'entia'
import { Pending } from 'entia/components'
import { standardSystems } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { listener, tickAt } from './one-tick.ts'

const many = 500
const systems = standardSystems()

/** A world like that of a session: one agent, whose model is being asked. */
function small(): World {
  const world = new World({ systems })
  listener(world)
  tickAt(world, 0, { kind: 'started', dateMs: 0 })
  return world
}

describe('a world of one agent', () => {
  it('weighs little, so that there may be thousands of them', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const liveBytes = (): number => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const kept = Array.from({ length: 100 }, small)
    const before = liveBytes()
    for (let count = 0; count < many; count++) kept.push(small())
    const bytesEach = (liveBytes() - before) / many
    expect(kept.every((world) => world.query(Pending).length === 1)).toBe(true)
    expect(bytesEach).toBeLessThan(20_000)
  })
})
