import { expect, it } from 'vitest'
import { simulate } from '../../../src/sim/index.ts'
import { calls, delegate, scriptedTeam, wait } from '../stories/scripted-team.ts'

it('a session that sleeps while a tool of its is at work keeps its slot until that has ended', async () => {
  const team = scriptedTeam({
    scripts: {
      lead: () => [calls(delegate('boss', 'north', {})), 'The end.'],
      boss: () => [calls(delegate('scout', 'one')), calls(wait('all'), ['dig']), 'Managed.'],
      scout: () => ['Seen.'],
    },
  })
  const { violation } = await simulate({ ...team, maxSessions: 1, seed: 1 })
  expect(violation).toBeUndefined()
})
