import type { TranscriptLine } from 'entia/stores'

export const writtenKey = 'agents/subagent-1/sessions/1.jsonl'

/** A line of some length, the same each time; every tenth can be searched for by a word of its own. */
export function writtenLine(line: number): TranscriptLine {
  const text = JSON.stringify({ line, text: 'x'.repeat(2000 + (line % 7) * 100) })
  return line % 10 === 0 ? { text, searchable: `every tenth${line}` } : { text }
}
