import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Row } from './row.ts'

/** What one run has sent, as the example tells it. */
interface Figures {
  readonly how: string
  readonly calls: number
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly mostTokens: number
}

const program = join(import.meta.dirname, '../examples/long-run/figures.ts')

/** What is sent to models over a long run: with nothing that keeps its context short, with one mechanism, with all of them. */
export async function measure(): Promise<Row[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=entia-source', program])
  return (JSON.parse(stdout) as Figures[]).map(({ how, calls, promptTokens, cachedTokens, mostTokens }) => ({
    name: `prompt tokens sent while 200 files are read: ${how}`,
    value: promptTokens,
    unit: '',
    against: `${Math.round((100 * cachedTokens) / promptTokens)} % of them from the cache, ${calls} calls, the longest ${mostTokens}`,
  }))
}
