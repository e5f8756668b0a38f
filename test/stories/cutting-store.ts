import type { Store } from 'entia'
import type { WorldJournal } from 'entia/stores'

/** Where, around the commit of a tick, a process is cut off. */
export const places = ['before the commit', 'after the commit', 'after the effects ended'] as const
export type Place = (typeof places)[number]

/** A store whose process dies at one commit: from then on nothing is written, and whoever waits for it waits forever. */
export interface CuttingStore {
  readonly store: Store
  /** Commits and appends so far, of all worlds. */
  readonly commits: () => number
  /** Resolves when the process is dead and its locks are free, as a kernel would free them. */
  readonly dead: Promise<void>
  /** Ends the process now, if it is not dead yet. */
  readonly kill: () => Promise<void>
}

/**
 * @param cutAt counts the commits of all worlds together, and what is appended to transcripts
 * @param settleEffects lets everything that was started end
 */
export function cuttingStore(
  inner: Store,
  cutAt: number,
  place: Place,
  settleEffects: () => Promise<void>,
): CuttingStore {
  let count = 0
  let isDead = false
  const journals: WorldJournal[] = []
  const { promise: dead, resolve } = Promise.withResolvers<void>()
  const kill = async (): Promise<void> => {
    isDead = true
    await Promise.all(journals.map((journal) => journal.close()))
    resolve()
  }
  const forever = async (): Promise<never> => {
    await kill()
    return await new Promise<never>(() => undefined)
  }
  const whileAlive = <T>(doing: () => Promise<T>): Promise<T> => (isDead ? new Promise(() => undefined) : doing())
  const write = async (doing: () => Promise<void>): Promise<void> => {
    count++
    if (count === cutAt && place === 'before the commit') return await forever()
    if (count > cutAt) {
      await settleEffects()
      return await forever()
    }
    await doing()
    if (count === cutAt && place === 'after the commit') return await forever()
  }
  const store: Store = {
    ...inner,
    delete: (world) => whileAlive(() => inner.delete(world)),
    putText: (...put) => whileAlive(() => inner.putText(...put)),
    deleteTranscript: (...which) => whileAlive(() => inner.deleteTranscript(...which)),
    appendTranscript: (...append) => whileAlive(() => write(() => inner.appendTranscript(...append))),
    open: (world, options) =>
      whileAlive(async () => {
        const opened = await inner.open(world, options)
        journals.push(opened)
        // Its lock is a dead process's by now.
        if (isDead) return await forever()
        return {
          name: opened.name,
          load: () => opened.load(),
          recording: () => opened.recording(),
          close: () => opened.close(),
          commit: (batch) => write(() => opened.commit(batch)),
        }
      }),
  }
  return { store, commits: () => count, dead, kill }
}
