import { memoryStore, type Store } from 'entia'
import { type CommittedTick, watchedStore } from '../stores/watched-store.ts'

/** A store in which the commit of a tick can be held up: `hold` resolves when the next one that is meant has come so far. */
export function heldStore(): {
  store: Store
  hold: (isMeant: (tick: CommittedTick) => boolean) => Promise<() => void>
} {
  let waiting: { isMeant: (tick: CommittedTick) => boolean; reached: () => void; released: Promise<void> } | undefined
  const store = watchedStore(memoryStore(), {
    async before(ticks) {
      if (waiting === undefined || !ticks.some(waiting.isMeant)) return
      const { reached, released } = waiting
      waiting = undefined
      reached()
      await released
    },
  })
  return {
    store,
    hold: (isMeant) =>
      new Promise((resolve) => {
        const { promise: released, resolve: release } = Promise.withResolvers<void>()
        waiting = { isMeant, released, reached: () => resolve(release) }
      }),
  }
}
