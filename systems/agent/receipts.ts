import { minSeenInputs, SeenInputs } from '../../components/agent/host-facts.ts'
import type { World } from '../../src/world/world.ts'

/**
 * Stores the ids of inputs, by which the Runner recognizes duplicates.
 * Writes: SeenInputs.
 */
export const receipts = {
  name: 'receipts',
  priority: -120,
  run(world: World): void {
    const ids: string[] = []
    for (const { id } of world.inputs) if (typeof id === 'string') ids.push(id)
    if (ids.length === 0) return
    const keeper = world.query(SeenInputs)[0] ?? world.spawn(SeenInputs())
    world.append(keeper, SeenInputs, ...ids)
    const surplus = world.read(keeper, SeenInputs).length - 2 * minSeenInputs
    if (surplus > 0) world.splice(keeper, SeenInputs, 0, minSeenInputs + surplus, [])
  },
}
