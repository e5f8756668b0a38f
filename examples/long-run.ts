import { join } from 'node:path'
import { longRun } from './long-run/run-batches.ts'

// An agent reads 200 files with a window of 16,000 tokens: much more than fits into it. Turns that are over move to
// holders, tasks that are done are cut off, and what fills up all the same is compacted. What was read first can still be
// asked for.

const { answers, calls, meter, report } = await longRun({
  folder: join(import.meta.dirname, '../node_modules/@anthropic-ai/sdk/src'),
  files: 200,
  windowTokens: 16_000,
  config: {
    subagents: { enabled: true },
    archival: { enabled: true },
    context: { compaction: { threshold: 0.8 } },
    ceilings: { maxSessionCostUsd: 20 },
  },
})

console.log(`${calls.get('read_file')} files read, no prompt longer than ${meter.mostTokens} tokens`)
for (const answer of answers) console.log(answer)
console.log(`asked holders ${calls.get('query_subagent') ?? 0} times, searched ${calls.get('recall') ?? 0} times`)
console.log(report)
