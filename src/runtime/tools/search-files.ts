import { refusable, Refusal } from '../../tools/files/refusal.ts'
import type { GrepRequest } from '../../tools/files/grep-lines.ts'
import type { ToolContext, ToolOutput } from '../../tools/port.ts'
import { NoRipgrep, RipgrepSearch } from './ripgrep-search.ts'
import type { ToolSettings } from './settings.ts'
import { WholeDisk } from './whole-disk.ts'

/** Does the work of `grep_files`: by ripgrep, and where there is none, in a thread of its own. */
export function searchFiles(
  request: GrepRequest,
  settings: ToolSettings,
  context: ToolContext,
): Promise<string | ToolOutput> {
  return refusable(request.path, async () => {
    if (`${request.pattern}${request.glob ?? ''}`.includes('\0'))
      throw new Refusal('The pattern or glob holds a NUL character.')
    try {
      return await new RipgrepSearch(request, new WholeDisk(settings), settings, context).text()
    } catch (error) {
      if (!(error instanceof NoRipgrep)) throw error
      return searchInThread(request, settings, context)
    }
  })
}

/** What a thread is given to do. */
export interface ThreadSearch {
  readonly request: GrepRequest
  readonly cwd: string
  readonly home: string
  readonly policy: ToolContext['policy']
}

/** Most memory of a thread, in MB. */
const maxThreadMb = 256

async function searchInThread(
  request: GrepRequest,
  { cwd, home }: ToolSettings,
  { policy, signal }: ToolContext,
): Promise<string | ToolOutput> {
  signal.throwIfAborted()
  const { Worker } = await import('node:worker_threads')
  const { createRequire } = await import('node:module')
  const workerData: ThreadSearch = { request, cwd, home, policy }
  const worker = new Worker(createRequire(import.meta.url).resolve('#grep-thread'), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: maxThreadMb },
  })
  const { promise, resolve, reject } = Promise.withResolvers<string | ToolOutput>()
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', () => reject(new Error('The search ended without a result.')))
  const stop = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', stop)
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', stop)
    await worker.terminate()
  }
}
