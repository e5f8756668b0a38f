import { parentPort, workerData } from 'node:worker_threads'
import { grepLines } from '../../tools/files/grep-lines.ts'
import { FileTimes } from './file-times.ts'
import type { ThreadSearch } from './search-files.ts'
import { WholeDisk } from './whole-disk.ts'

/** The program of the thread that searches where there is no ripgrep. */
const { request, cwd, home, policy } = workerData as ThreadSearch
const disk = new WholeDisk({ cwd, home, fileTimes: new FileTimes() })
const context = {
  signal: new AbortController().signal,
  key: '',
  attempt: 1,
  agent: 0,
  world: '',
  policy,
  progress: () => {},
  sleep: () => Promise.reject(new Error('A search does not sleep.')),
  post: () => Promise.reject(new Error('A search posts nothing.')),
  message: () => Promise.reject(new Error('A search says nothing.')),
}
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
parentPort?.postMessage(await grepLines(disk, request, context))
