import { expect, it } from 'vitest'
import { type Fault, simulate } from '../../../src/sim/index.ts'
import { teamStories } from '../stories/team-stories.ts'

const faults: readonly Fault[] = [
  { what: 'crash.child', at: 'team/1.1 commit 5' },
  { what: 'crash.child', at: 'team/1.5 commit 12' },
]

it('a session that goes on where another died has set aside what the sessions that it takes over were granted', async () => {
  const { violation } = await simulate({ ...teamStories.resuming(), seed: 11, faults })
  expect(violation).toBeUndefined()
})
