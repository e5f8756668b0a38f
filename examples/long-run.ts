import { join } from 'node:path'
import { longRun } from './long-run/run-batches.ts'

// An agent reads 200 files with a window of 16,000 tokens: much more than fits into it. A wrapper reads what is bulky,
// turns that are over move to holders, tasks that are done are cut off, and what fills up all the same, in the midst of a
// turn of 20 files, is compacted. What was read first can still be asked for.

const { answers, calls, meter, report } = await longRun({
  folder: join(import.meta.dirname, '../node_modules/zod/src/v4'),
  files: 200,
  windowTokens: 16_000,
  config: {
    subagents: { enabled: true },
    archival: { enabled: true },
    context: { compaction: { threshold: 0.5, midTurn: 0.6 } },
    ceilings: { maxSessionCostUsd: 20 },
  },
})

const [read = 0, digested = 0] = [calls.get('read_file'), calls.get('agentic_read_file')]
console.log(`${read} files read, ${digested} more by a wrapper; no prompt longer than ${meter.mostTokens} tokens`)
for (const answer of answers) console.log(answer)
console.log(`asked holders ${calls.get('query_subagent') ?? 0} times, searched ${calls.get('recall') ?? 0} times`)
console.log(report)

/*
Prints:
150 files read, 50 more by a wrapper; no prompt longer than … tokens
classic/checks.ts exports nothing by name.
classic/coerce.ts exports ZodCoercedString.
classic/compat.ts exports TypeOf.
classic/deep-partial.ts exports DeepPartial.
classic/errors.ts exports ZodIssue.
asked holders 5 times, searched 0 times
Context-management activity:
  Compactions: 2 (last … ago)
  Checkpoints: 2 (last … ago, note: Batches 19 to 36 are read.)
  Summarized: … chars across all boundaries
  Subtasks: 50 (… in / … out tokens, $… rolled up to /stats total)
  Archived: 37 turns (0 waiting, 0 failed)
  Window: … of 16000 tokens (…%), compacts at 50% (threshold)
*/
