import { scripted, textOf } from 'entia'
import { calls, spoken } from './spoken.ts'
import { teamStory } from './team.ts'

const quick = { name: 'quick', model: 'quick/x' }
const slow = { name: 'slow', model: 'slow/x' }
const task = (category: string) => ['subagent', { category, prompt: 'Look', background: true }] as const

/** A lead whose steps are used up when it goes to sleep for one session, while others have ended of which it was not told. */
export default teamStory({
  name: 'last-step-waits',
  subagents: { quick, slow },
  maxSteps: 2,
  models: {
    lead: scripted(
      (request) => {
        if (spoken(request) === 0) return calls(task('quick'), task('quick'), task('slow'))
        const isOver = [...request.messages].some((message) => textOf(message).includes('[Max turns reached]'))
        return isOver ? 'I was told.' : calls(['subagent_wait', { session_ids: ['3'] }])
      },
      { latencyMs: [1_000, 5_000] },
    ),
    quick: scripted(() => 'Found it.', { latencyMs: [1, 1_000] }),
    slow: scripted(() => 'Found it.', { latencyMs: [600_000, 900_000] }),
  },
})
