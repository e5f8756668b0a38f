import type { Store } from 'entia'
import type { TranscriptLine, WorldJournal } from 'entia/stores'

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
  /** Called before anything of an append to a transcript is written; what it throws fails the append. */
  readonly beforeAppend?: (key: string, lines: readonly TranscriptLine[], from: number) => Promise<void> | void
}

/** A store that lets a test see, hold up and fail each commit and each append to a transcript. */
export function watchedStore(inner: Store, { before, after, beforeAppend }: StoreHooks): Store {
  return {
    read: (name, options) => inner.read(name, options),
    list: (options) => inner.list(options),
    putText: (root, key, text) => inner.putText(root, key, text),
    getText: (root, key) => inner.getText(root, key),
    async appendTranscript(root, key, lines, options) {
      await beforeAppend?.(key, lines, options.from)
      await inner.appendTranscript(root, key, lines, options)
    },
    transcript: (root, key) => inner.transcript(root, key),
    searchTranscript: (root, keys, query, options) => inner.searchTranscript(root, keys, query, options),
    deleteTranscript: (root, key) => inner.deleteTranscript(root, key),
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
  const foreverIfDead = () => (isDead ? new Promise<never>(() => undefined) : undefined)
  const store = watchedStore(inner, { before: foreverIfDead, beforeAppend: foreverIfDead })
  return {
    store: {
      ...store,
      putText: (...put) => foreverIfDead() ?? store.putText(...put),
      deleteTranscript: (...which) => foreverIfDead() ?? store.deleteTranscript(...which),
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
