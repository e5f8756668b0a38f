import { SessionTexts } from '../../components/session-texts.ts'
import { SubagentSession } from '../../components/subagent-session.ts'
import type { World } from '../world/world.ts'
import { memoryRecords } from './memory-records.ts'
import { readPart } from './record-part.ts'
import { summaryPathOf } from './artifact-id.ts'
import type { Records } from './records.ts'

/** Records of a world that no store keeps: what it keeps itself, and in memory what is too long for that. */
export function worldRecords(world: World): Records {
  const memory = memoryRecords()
  return {
    put: (key, text) => memory.put(key, text),
    async get(key, range = {}) {
      const text = keptText(world, key)
      if (text === undefined) return memory.get(key, range)
      const bytes = Buffer.from(text)
      return readPart(range, bytes.length, (from, to) => bytes.subarray(from, to))
    },
  }
}

function keptText(world: World, key: string): string | undefined {
  for (const session of world.core.state.holders(SubagentSession)) {
    const { inlineContent, recordPath } = world.read(session, SubagentSession)
    if (recordPath === undefined) continue
    if (key === recordPath) return world.get(session, SessionTexts)?.result ?? inlineContent
    if (key === summaryPathOf(recordPath)) return world.get(session, SessionTexts)?.summary
  }
  return undefined
}
