import { join } from 'node:path'
import { longRun, type LongRunOptions } from './run-batches.ts'

// The long run three times over, for the bench: prints what was sent to the model, as JSON.

const folder = join(import.meta.dirname, '../../node_modules/zod/src/v4')
const bare = { checkpoint: { enabled: false }, agentic: { tools: false } }
const compaction = { threshold: 0.5, midTurn: 0.6 }
const archival = { subagents: { enabled: true }, archival: { enabled: true } }

const runs: Readonly<Record<string, Pick<LongRunOptions, 'windowTokens' | 'config'>>> = {
  'nothing, and a window of 1,000,000': { windowTokens: 1_000_000 },
  'compaction alone, 16,000': { windowTokens: 16_000, config: { context: { ...bare, compaction } } },
  'all four, 16,000': { windowTokens: 16_000, config: { ...archival, context: { compaction } } },
}

const figures: object[] = []
for (const [how, options] of Object.entries(runs)) {
  const { meter } = await longRun({ folder, files: 200, ...options })
  figures.push({ how, ...meter })
}
console.log(JSON.stringify(figures))
