import { join } from 'node:path'
import { longRun, type LongRunOptions } from '../examples/long-run/run-batches.ts'
import type { Row } from './row.ts'

const folder = join(import.meta.dirname, '../node_modules/zod/src/v4')
const files = 200

/** What is sent to models over a long run: with nothing that keeps its context short, with one mechanism, with all of them. */
export async function measure(): Promise<Row[]> {
  const bare = { checkpoint: { enabled: false }, agentic: { tools: false } }
  const compaction = { threshold: 0.5 }
  const archival = { subagents: { enabled: true }, archival: { enabled: true } }
  return [
    await sent('nothing, and a window of 1,000,000', { windowTokens: 1_000_000 }),
    await sent('compaction alone, 16,000', { windowTokens: 16_000, config: { context: { ...bare, compaction } } }),
    await sent('all four, 16,000', { windowTokens: 16_000, config: { ...archival, context: { compaction } } }),
  ]
}

async function sent(how: string, options: Pick<LongRunOptions, 'windowTokens' | 'config'>): Promise<Row> {
  const { meter } = await longRun({ folder, files, ...options })
  const share = Math.round((100 * meter.cachedTokens) / meter.promptTokens)
  return {
    name: `prompt tokens sent while 200 files are read: ${how}`,
    value: meter.promptTokens,
    unit: '',
    against: `${share} % of them from the cache, ${meter.calls} calls, the longest ${meter.mostTokens}`,
  }
}
