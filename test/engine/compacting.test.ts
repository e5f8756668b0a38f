import { describe, expect, it } from 'vitest'
import { CompactionPending } from 'entia/components'
import { boundaries, conversation, handover, living, textsOf } from './long-lives.ts'

const full = { input: 1_000, cacheRead: 800_000, cacheWrite: 49_000, output: 10 }
const prefix = '[Conversation compacted. A handover of the earlier part follows; do not redo what it lists as done.]'
const foot = '[End of record. The conversation goes on below.]'

describe('a compaction', () => {
  it('comes before the first step of the turn after one that ended at the threshold, and covers all before its message', async () => {
    const { agent, say, steps, summaries, world } = await living({ usage: () => full })
    await say('One')
    expect([steps.length, summaries.length, world.has(agent, CompactionPending)]).toEqual([1, 0, true])
    await say('Two')
    expect([steps.length, summaries.length]).toEqual([2, 1])
    expect(textsOf(steps[1]!)).toEqual([`${prefix}\n\n${handover}\n\n${foot}`, 'Two'])
    expect(conversation(world, agent)).toEqual(['Hello', 'Hi', 'One', 'Well.', 'Two', 'Well.'])
    expect(boundaries(world, agent)).toMatchObject([{ kind: 'summary', seq: 4, by: 'auto', truncated: false, missingHeadings: [] }])
  })
})
