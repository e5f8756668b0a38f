import type { Store } from '../stores/port.ts'
import { namesInKey } from './record-key.ts'
import { readPart } from './record-part.ts'
import type { Records } from './records.ts'

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
