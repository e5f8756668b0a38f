import type { Store, WorldJournal } from 'entia'

/** Where, around the commit of a tick, a process is cut off. */
export const places = ['before the commit', 'after the commit', 'after the effects ended'] as const
export type Place = (typeof places)[number]

/** A store whose process dies at one commit: from then on nothing is written, and whoever waits for it waits forever. */
export interface CuttingStore {
  readonly store: Store
  /** Commits so far. */
  readonly commits: () => number
  /** Resolves when the process is dead and its lock is free, as a kernel would free it. */
  readonly dead: Promise<void>
  /** Ends the process now, if it is not dead yet. */
  readonly kill: () => Promise<void>
}

/** @param settleEffects lets everything that was started end */
export function cuttingStore(
  inner: Store,
  cutAt: number,
  place: Place,
  settleEffects: () => Promise<void>,
): CuttingStore {
  let count = 0
  let isDead = false
  let journal: WorldJournal | undefined
  const { promise: dead, resolve } = Promise.withResolvers<void>()
  const kill = async (): Promise<void> => {
    isDead = true
    await journal?.close()
    resolve()
  }
  const forever = async (): Promise<never> => {
    await kill()
    return await new Promise<never>(() => undefined)
  }
  const store: Store = {
    ...inner,
    putText: (...put) => (isDead ? new Promise<never>(() => undefined) : inner.putText(...put)),
    async open(world, options) {
      const opened = await inner.open(world, options)
      journal = opened
      return {
        name: opened.name,
        load: () => opened.load(),
        recording: () => opened.recording(),
        close: () => opened.close(),
        async commit(batch) {
          count++
          if (count === cutAt && place === 'before the commit') return await forever()
          if (count > cutAt) {
            await settleEffects()
            return await forever()
          }
          await opened.commit(batch)
          if (count === cutAt && place === 'after the commit') return await forever()
        },
      }
    },
  }
  return { store, commits: () => count, dead, kill }
}
