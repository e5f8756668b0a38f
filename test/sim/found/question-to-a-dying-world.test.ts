import { expect, it } from 'vitest'
import { simulate } from '../../../src/sim/index.ts'
import { teamStories } from '../stories/team-stories.ts'

it('a question to a session whose world cannot be written any more comes to an end', async () => {
  const faults = [{ what: 'crash.child', at: 'team/1.2 commit 7' }] as const
  const { violation } = await simulate({ ...teamStories.asking(), seed: 5, faults })
  expect(violation).toBeUndefined()
})
