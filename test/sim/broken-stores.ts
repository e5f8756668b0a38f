import { memoryStore, type Store } from 'entia'
import type { StoredWorld } from 'entia/stores'
import { sha256 } from '../../src/base/sha256.ts'
import { watchedStore } from '../behaviour/stores/watched-store.ts'

/** A store of which each world comes back otherwise than it was written. */
function loading(change: (stored: StoredWorld) => StoredWorld): () => Store {
  return () => {
    const inner = memoryStore()
    return {
      ...watchedStore(inner, {}),
      async open(name, options) {
        const journal = await inner.open(name, options)
        return {
          name,
          recording: () => journal.recording(),
          close: () => journal.close(),
          commit: (batch) => journal.commit(batch),
          async load() {
            const stored = await journal.load()
            return stored && change(stored)
          },
        }
      },
    }
  }
}

/** The newest tick of a world is lost. */
export const losesLastRow = loading(({ snapshot, rows }) => ({ snapshot, rows: rows.slice(0, -1) }))

/** The newest tick of a world says something else than was written, under a check that fits. */
export const manglesValues = loading(({ snapshot, rows }) => {
  const last = rows.at(-1)
  if (last === undefined) return { snapshot, rows }
  const text = last.line.slice(17).replace(/"steps":(\d)/, (_, steps) => `"steps":${Number(steps) + 1}`)
  const before = rows.at(-2)?.line.slice(0, 16) ?? (JSON.parse(snapshot.lines[0] as string) as { chain: string }).chain
  const line = `${sha256(before + text).slice(0, 16)} ${text}`
  return { snapshot, rows: [...rows.slice(0, -1), { tick: last.tick, line }] }
})
