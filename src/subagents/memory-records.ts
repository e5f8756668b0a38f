import { namesInKey } from './record-key.ts'
import { readPart } from './record-part.ts'
import type { Records } from './records.ts'

/** Records that last as long as the object: for worlds without a store. */
export function memoryRecords(): Records {
  const kept = new Map<string, Buffer>()
  return {
    async put(key, text) {
      namesInKey(key)
      kept.set(key, Buffer.from(text))
    },
    async get(key, range = {}) {
      namesInKey(key)
      const bytes = kept.get(key)
      return bytes && readPart(range, bytes.length, (from, to) => bytes.subarray(from, to))
    },
  }
}
