import { expect, it } from 'vitest'
import { type Fault, simulate } from '../../../src/sim/index.ts'
import { teamStories } from '../stories/team-stories.ts'

const faults: readonly Fault[] = [
  { what: 'model.truncated', at: 'team/1.2 model 2' },
  { what: 'model.malformedToolCall', at: 'team/1.1 model 1' },
  { what: 'delivery.late', at: 'team outcome 2', ms: 9244 },
  { what: 'model.overloaded', at: 'team/1.3 model 1' },
  { what: 'model.rateLimited', at: 'team/1.1/1.1 model 2' },
  { what: 'delivery.late', at: 'team/1.1 outcome 3', ms: 7274 },
  { what: 'users.message', at: 'team moment 11' },
  { what: 'users.message', at: 'team moment 16' },
  { what: 'crash.afterEffects', at: 'store commit 53' },
]

it('a process that dies while a commit of its never comes takes no more from the clock than it gave it', async () => {
  const { violation } = await simulate({ ...teamStories.resuming(), seed: 24, faults })
  expect(violation).toBeUndefined()
})
