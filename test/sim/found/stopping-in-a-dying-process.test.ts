import { expect, it } from 'vitest'
import { type Fault, simulate } from '../../../src/sim/index.ts'
import { teamStories } from '../stories/team-stories.ts'

const faults: readonly Fault[] = [
  { what: 'crash.afterEffects', at: 'store commit 21' },
  { what: 'crash.afterCommit', at: 'store commit 31' },
  { what: 'crash.afterEffects', at: 'store commit 40' },
  { what: 'crash.child', at: 'team/1.1 commit 22' },
  { what: 'crash.beforeCommit', at: 'store commit 65' },
  { what: 'crash.beforeCommit', at: 'store commit 92' },
  { what: 'crash.child', at: 'team/1.2 commit 30' },
  { what: 'crash.afterEffects', at: 'store commit 139' },
  { what: 'crash.child', at: 'team/1.3 commit 13' },
  { what: 'crash.afterEffects', at: 'store commit 144' },
]

it('a session that is stopped with its world unwritten holds up neither the clock nor the end of its process', async () => {
  const { violation } = await simulate({ ...teamStories.nesting(), seed: 123, faults })
  expect(violation).toBeUndefined()
})
