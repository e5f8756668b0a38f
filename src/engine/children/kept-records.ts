import { SessionTexts, SubagentSession } from '../../../components/sessions/subagent-session.ts'
import type { Store } from '../../stores/port.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { World } from '../../world/world.ts'
import { namesInKey, readPart, type Records, summaryPathOf } from './records.ts'

/** Where the results of a Runner's sessions are kept: the Host's folder, or the Store, or else memory and the world itself. */
export function recordsFor(folder: string | undefined, store: Store | undefined, world: World, root: string): Records {
  if (folder !== undefined) return folderRecords(folder)
  return store === undefined ? worldRecords(world) : storeRecords(store, root)
}

/**
 * Records as files in a folder, which is made with the first of them; folders and files are for their owner alone. What
 * a file system needs is loaded at first use.
 *
 * @param folder may be a link; a relative one counts from the working folder of now
 * @throws `invalid-argument` for an empty one
 */
export function folderRecords(folder: string): Records {
  if (folder === '')
    throw new EntiaError('invalid-argument', 'folderRecords: the path of the folder must not be empty.')
  const workingFolder = process.cwd()
  const load = async (): Promise<Records> => {
    const { RecordFolder } = await import('./record-folder.ts')
    return new RecordFolder(workingFolder, folder)
  }
  let records: Promise<Records> | undefined
  const loaded = () => (records ??= load())
  return {
    put: async (key, text) => (await loaded()).put(key, text),
    get: async (key, range) => (await loaded()).get(key, range),
  }
}

/** Records beside a root world in its store. They go with the root. */
export function storeRecords(store: Store, root: string): Records {
  return {
    async put(key, text) {
      namesInKey(key)
      await store.putText(root, key, text.toWellFormed())
    },
    async get(key, range = {}) {
      namesInKey(key)
      const text = await store.getText(root, key)
      if (text === undefined) return undefined
      const bytes = Buffer.from(text)
      return readPart(range, bytes.length, (from, to) => bytes.subarray(from, to))
    },
  }
}

/** Records that last as long as the object: for worlds without a store. */
export function memoryRecords(): Records {
  const kept = new Map<string, string>()
  return {
    async put(key, text) {
      namesInKey(key)
      kept.set(key, text.toWellFormed())
    },
    async get(key, range = {}) {
      namesInKey(key)
      const text = kept.get(key)
      if (text === undefined) return undefined
      const bytes = Buffer.from(text)
      return readPart(range, bytes.length, (from, to) => bytes.subarray(from, to))
    },
  }
}

/** Records of a world that no store keeps: what it keeps itself, and in memory what is too long for that. */
function worldRecords(world: World): Records {
  const memory = memoryRecords()
  return {
    put: (key, text) => memory.put(key, text),
    async get(key, range = {}) {
      const text = keptText(world, key)
      if (text === undefined) return memory.get(key, range)
      const bytes = Buffer.from(text)
      return readPart(range, bytes.length, (from, to) => bytes.subarray(from, to))
    },
  }
}

function keptText(world: World, key: string): string | undefined {
  for (const session of world.entitiesWith(SubagentSession)) {
    const { inlineContent, recordPath } = world.read(session, SubagentSession)
    if (recordPath === undefined) continue
    if (key === recordPath) return world.get(session, SessionTexts)?.result ?? inlineContent
    if (key === summaryPathOf(recordPath)) return world.get(session, SessionTexts)?.summary
  }
  return undefined
}
