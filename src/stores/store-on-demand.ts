import { listOf, refuseMisfit, table } from '../base/option-shapes.ts'
import type { Medium } from './medium.ts'
import type { SharedStore } from './port.ts'

/** A store whose code is loaded when it is first used, and kept. */
export function storeOnDemand(open: () => Promise<Medium>): SharedStore {
  let store: Promise<SharedStore> | undefined
  const load = async () => {
    const { RootStore } = await import('./root-store.ts')
    return new RootStore(await open())
  }
  const loaded = () => (store ??= load())
  return {
    open: async (world, options) => (await loaded()).open(world, options),
    read: async (world, options) => (await loaded()).read(world, options),
    post: async (post) => (await loaded()).post(post),
    rows: async (world, options) => (await loaded()).rows(world, options),
    ticks: async (worlds) => (await loaded()).ticks(worlds),
    on: (event, hear, only) => {
      const listening = loaded().then((made) => made.on(event, hear, only))
      return () => void listening.then((end) => end())
    },
    list: async (options) => (await loaded()).list(options),
    putText: async (root, key, text) => (await loaded()).putText(root, key, text),
    getText: async (root, key) => (await loaded()).getText(root, key),
    appendTranscript: async (root, key, lines, options) => {
      // As they are now, however long loading takes.
      refuseMisfit('appendTranscript', 'lines', lines, listOf(table))
      const given = [...lines]
      return (await loaded()).appendTranscript(root, key, given, options)
    },
    transcript: async (root, key) => (await loaded()).transcript(root, key),
    searchTranscript: async (root, keys, query, options) =>
      (await loaded()).searchTranscript(root, keys, query, options),
    deleteTranscript: async (root, key) => (await loaded()).deleteTranscript(root, key),
    delete: async (world) => (await loaded()).delete(world),
    close: async () => (await loaded()).close(),
  }
}
