import type { World } from '../../world/world.ts'
import type { Finding, Law } from '../law.ts'
import { firstFinding } from './first-finding.ts'
import { Shadows } from './shadow-world.ts'

/** Compares what a tick touched at once, and the whole world when it is released, at crashes and at the end. */
export const journalEqualsWorld: Law = {
  name: 'journal-equals-world',
  meaning: 'The deltas of all ticks, applied in order, make the world itself.',
  watch(run) {
    const shadows = run.shared(Shadows)
    const worlds = new Map<string, World>()
    const wholeJournal = (world: World): Finding => {
      const shadow = shadows.get(world)
      // A tick that could not be committed does not count.
      const difference = shadow?.tick === world.tick ? shadow.difference(world) : undefined
      return (
        difference && `the journal of ${world.name} up to tick ${world.tick} does not make the world: ${difference}`
      )
    }
    return {
      began({ world }) {
        const difference = shadows.began(world)
        worlds.set(world.name, world)
        return difference && `the restored world differs from its last tick: ${difference}`
      },
      ticked(tick) {
        const difference = shadows.ticked(tick)
        return difference && `tick ${tick.step.delta.tick} of the journal does not make the world: ${difference}`
      },
      ended({ world }) {
        worlds.delete(world.name)
        return wholeJournal(world)
      },
      crashed() {
        const finding = firstFinding(worlds.values(), wholeJournal)
        worlds.clear()
        return finding
      },
      finished: () => firstFinding(worlds.values(), wholeJournal),
    }
  },
}
