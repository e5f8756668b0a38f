import type { Store, WorldJournal } from 'entia'

/** What a committed tick was, as far as a test looks. */
export interface CommittedTick {
  readonly tick: number
  readonly inputs: readonly { readonly kind: string }[]
  readonly delta: { readonly set?: Readonly<Record<string, readonly (readonly [number, unknown])[]>> }
}

export interface StoreHooks {
  /** Called before anything is written; what it throws fails the commit. */
  readonly before?: (ticks: readonly CommittedTick[]) => Promise<void> | void
  /** Called once it is durable, before anybody else hears of it. */
  readonly after?: (ticks: readonly CommittedTick[]) => void
}

/** A store that lets a test see, hold up and fail each commit. */
export function watchedStore(inner: Store, { before, after }: StoreHooks): Store {
  return {
    list: () => inner.list(),
    putText: (root, key, text) => inner.putText(root, key, text),
    getText: (root, key) => inner.getText(root, key),
    delete: (name) => inner.delete(name),
    close: () => inner.close(),
    async open(name, options) {
      const journal = await inner.open(name, options)
      return {
        name,
        load: () => journal.load(),
        recording: () => journal.recording(),
        close: () => journal.close(),
        async commit(batch) {
          const ticks = (batch.rows ?? []).map(({ tick, line }) => read(tick, line))
          await before?.(ticks)
          await journal.commit(batch)
          after?.(ticks)
        },
      }
    },
  }
}

/** A store whose process can die: from then on nothing is written, whoever waits for it waits forever, and the lock is free. */
export function mortalStore(inner: Store): { readonly store: Store; readonly die: () => void } {
  const journals: WorldJournal[] = []
  let isDead = false
  const store = watchedStore(inner, { before: () => (isDead ? new Promise<never>(() => undefined) : undefined) })
  return {
    store: {
      ...store,
      putText: (...put) => (isDead ? new Promise<never>(() => undefined) : store.putText(...put)),
      async open(name, options) {
        const journal = await store.open(name, options)
        journals.push(journal)
        return journal
      },
    },
    die() {
      isDead = true
      for (const journal of journals) void journal.close()
    },
  }
}

/** A row is a check and, behind a blank, JSON. */
function read(tick: number, line: string): CommittedTick {
  const { i, d } = JSON.parse(line.slice(line.indexOf(' ') + 1)) as {
    i: CommittedTick['inputs']
    d: CommittedTick['delta']
  }
  return { tick, inputs: i, delta: d }
}
