import { describe, expect, it } from 'vitest'
import { type FaultRates, simulate, type SimulateOptions, type Violation } from '../../src/sim/index.ts'
import { SessionPool } from '../../src/engine/children/pool.ts'
import type { System } from '../../src/world/world.ts'
import * as broken from './broken-sessions.ts'
import type { TeamOptions } from './stories/scripted-team.ts'
import { teamStories } from './stories/team-stories.ts'

const maxSeeds = 500

interface Mutation {
  readonly what: string
  readonly law: string
  readonly story: keyof typeof teamStories
  readonly systems?: () => System[]
  readonly pool?: (cap: number) => SessionPool
  readonly faults?: FaultRates
}

const mutations: readonly Mutation[] = [
  {
    what: 'a session that runs again',
    law: 'session-transitions-legal',
    story: 'waiting',
    systems: broken.revivesSessions,
  },
  {
    what: 'an end that is written over',
    law: 'session-transitions-legal',
    story: 'waiting',
    systems: broken.endsSessionsLater,
  },
  {
    what: 'a pool with a slot too many',
    law: 'cap-kept',
    story: 'waiting',
    pool: (cap) => new SessionPool({ cap: cap + 1 }),
  },
  {
    what: 'a slot that is given back with work in flight',
    law: 'cap-kept',
    story: 'nesting',
    systems: broken.releasesTooEarly,
  },
  {
    what: 'a session that goes on without a slot',
    law: 'cap-kept',
    story: 'nesting',
    systems: broken.goesOnWithoutSlot,
  },
  { what: 'a pool that is a stack', law: 'fifo-kept', story: 'waiting', pool: (cap) => new broken.StackPool({ cap }) },
  {
    what: 'a pool in which who comes back stands last',
    law: 'fifo-kept',
    story: 'nesting',
    pool: (cap) => new broken.PlainLinePool({ cap }),
  },
  { what: 'a notification that comes again', law: 'notified-once', story: 'waiting', systems: broken.notifiesTwice },
  { what: 'a notification that never comes', law: 'notified-once', story: 'waiting', systems: broken.notifiesNever },
  {
    what: 'a notification of a cancelled session',
    law: 'notified-once',
    story: 'stopping',
    systems: broken.notifiesOfCancelled,
  },
  {
    what: 'a notification that is read in silence',
    law: 'notified-once',
    story: 'nesting',
    systems: broken.readsInSilence,
  },
  { what: 'news that is told twice', law: 'notified-once', story: 'waiting', systems: broken.tellsTwice },
  {
    what: 'an admission that sets nothing aside',
    law: 'budget-kept',
    story: 'saving',
    systems: broken.setsNothingAside,
  },
  { what: 'spending that is forgotten', law: 'budget-kept', story: 'saving', systems: broken.forgetsSpending },
  { what: 'a session with a level too many', law: 'budget-kept', story: 'nesting', systems: broken.grantsDepth },
  { what: 'a turn with a step too many', law: 'budget-kept', story: 'saving', systems: broken.takesOneStepMore },
  { what: 'a session that spends more than its grant', law: 'budget-kept', story: 'saving', systems: broken.spendsOn },
  { what: 'a turn with a tool call too many', law: 'budget-kept', story: 'saving', systems: broken.forgetsToolCalls },
  { what: 'a ceiling that stops nobody', law: 'ceilings-kept', story: 'spending', systems: broken.mindsNoCeiling },
  {
    what: 'a step that begins over the ceiling',
    law: 'ceilings-kept',
    story: 'spending',
    systems: broken.stepsOverCeiling,
  },
  { what: 'a session that is charged twice', law: 'ceilings-kept', story: 'spending', systems: broken.chargesAgain },
  {
    what: 'spending that never reaches the ledger',
    law: 'ceilings-kept',
    story: 'spending',
    systems: broken.forgetsCharges,
  },
  { what: 'a wait that nobody ends', law: 'nothing-waits-in-vain', story: 'waiting', systems: broken.wakesNobody },
  {
    what: 'an idle agent that is told nothing',
    law: 'nothing-waits-in-vain',
    story: 'nesting',
    systems: broken.leavesIdleAlone,
  },
  {
    what: 'a call that is forgotten when its session ends',
    law: 'nothing-waits-in-vain',
    story: 'nesting',
    systems: broken.forgetsCalls,
  },
  {
    what: 'an ended session that is taken for active',
    law: 'nothing-waits-in-vain',
    story: 'waiting',
    systems: broken.keepsSessionsActive,
  },
  {
    what: 'an agent that is busy with nothing',
    law: 'nothing-waits-in-vain',
    story: 'waiting',
    systems: broken.staysBusy,
  },
  {
    what: 'a session that never asks for a slot again',
    law: 'nothing-waits-in-vain',
    story: 'nesting',
    systems: broken.staysWithoutSlot,
  },
  {
    what: 'a try that never comes',
    law: 'nothing-waits-in-vain',
    story: 'waiting',
    systems: broken.forgetsRetries,
    faults: { model: { overloaded: 0.1 } },
  },
  { what: 'a question that is given too much', law: 'budget-kept', story: 'asking', systems: broken.setsTooMuchAside },
  {
    what: 'a question that is told of more',
    law: 'budget-kept',
    story: 'asking',
    systems: broken.grantsMoreForQuestions,
  },
  {
    what: 'a question that stays in line',
    law: 'nothing-waits-in-vain',
    story: 'asking',
    systems: broken.asksOnlyFirst,
  },
]

/** The first seed under which a law finds something, and what. */
async function firstFound({
  story,
  systems,
  pool,
  faults = {},
}: Mutation): Promise<{ seed: number; violation: Violation } | undefined> {
  const team: Partial<TeamOptions> = systems === undefined ? {} : { systems }
  const options: SimulateOptions = teamStories[story](team)
  for (let seed = 1; seed <= maxSeeds; seed++) {
    const { violation } = await simulate({
      ...options,
      ...(pool !== undefined && { sessionPool: () => pool(options.maxSessions ?? 5) }),
      faults,
      seed,
    })
    if (violation !== undefined) return { seed, violation }
  }
  return undefined
}

describe('an engine with', () => {
  it.each(mutations)('$what breaks $law', async (mutation) => {
    const found = await firstFound(mutation)
    expect(found?.violation.law, found?.violation.message).toBe(mutation.law)
    expect(found?.seed).toBeLessThanOrEqual(maxSeeds)
  })
})
