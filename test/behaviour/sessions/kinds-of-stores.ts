import { memoryStore, sqliteStore, type Store } from 'entia'
import { onTestFinished } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'

/** Stores by name, each made anew for a test and closed behind it. */
export const stores: readonly (readonly [string, () => Promise<Store>])[] = [
  ['memoryStore', () => Promise.resolve(memoryStore())],
  [
    'sqliteStore',
    async () => {
      const store = sqliteStore({ folder: await tempFolder(), synchronous: 'normal' })
      onTestFinished(() => store.close())
      return store
    },
  ],
]
