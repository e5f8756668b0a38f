import { namesInKey } from './record-key.ts'
import { readPart } from './record-part.ts'
import type { Records } from './records.ts'

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
