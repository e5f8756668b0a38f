import { simulate } from 'entia/sim'
import { it } from 'vitest'
import { appendFileSync } from 'node:fs'
import story from './told/archival.ts'
it('x', { timeout: 600000 }, async () => {
  const counts: Record<string, number> = {}
  const { faults: _, ...calm } = story
  const from = Number(process.env['FROM'] ?? 1), to = Number(process.env['TO'] ?? 60)
  for (let seed = from; seed < to; seed++) {
  const lines: string[] = []
  const result = await simulate({ ...(seed < 5 ? calm : story), seed, onTrace: (line: string, entry: { type: string }) => { lines.push(line); counts[entry.type] = (counts[entry.type] ?? 0) + 1 } } as never)
  if (!result.ok) { appendFileSync('/tmp/archival/sim.txt', JSON.stringify({ seed, v: (result as { violation?: unknown }).violation }) + '\n'); if (process.env['TRACE']) appendFileSync('/tmp/archival/trace.txt', lines.join('\n')) }
  }
  appendFileSync('/tmp/archival/sim.txt', JSON.stringify(counts, null, 0))
})
