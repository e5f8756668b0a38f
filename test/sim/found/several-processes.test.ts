import { simulate, type SimulateOptions } from 'entia/sim'
import { memoryStore } from 'entia'
import { describe, expect, it } from 'vitest'
import askingSessions from '../../stories/told/asking-sessions.ts'
import backgroundSessions from '../../stories/told/background-sessions.ts'
import ceilings from '../../stories/told/ceilings.ts'
import cancelStorm from '../../stories/told/cancel-storm.ts'
import changedWorld from '../../stories/told/changed-world.ts'
import { everyFleetFault, oneByOne } from '../../stories/told/every-fault.ts'
import grantedTokens from '../../stories/told/granted-tokens.ts'
import nestedDelegation from '../../stories/told/nested-delegation.ts'
import supportDesk from '../../stories/told/support-desk.ts'
import takenBack from '../../stories/told/taken-back.ts'

/** What sweeps with three processes have found and was mended since, by what went wrong. */
const found: Readonly<Record<string, readonly [story: SimulateOptions, seed: number]>> = {
  'a session was given to a worker by an answer that was lost, and kept its slot for ever': [backgroundSessions, 5],
  'a worker that only waited did not find out that a stale claim had seized its session': [backgroundSessions, 24],
  'a session that was granted and stopped at once began without its grant': [backgroundSessions, 73],
  'a process died between two ticks that followed one another, and nobody opened the world': [backgroundSessions, 81],
  'workers full of sessions that waited took none of those that they waited for': [nestedDelegation, 1],
  'a session that only waited needed the slot of the one that waited for it': [nestedDelegation, 10],
  'a session went on without a slot when it had lost its place to another worker': [nestedDelegation, 27],
  'a session that was given up left its own ones waiting for it': [nestedDelegation, 28],
  'a session took the slot that had become free before one that was held and asked for it earlier': [
    nestedDelegation,
    100,
  ],
  'what a session had reported as spent was forgotten when it was given up': [ceilings, 3],
  'a session that was stopped went on where it was opened again': [grantedTokens, 29],
  'a session that was stopped before it began asked for its grant again': [cancelStorm, 5],
  'a session was launched by a process that its parent was taken from, after it was withdrawn': [cancelStorm, 391],
  'a session that was given up had spent something else than it had said': [cancelStorm, 250],
  'a process that a world was taken from wrote a holder of it that nobody knows': [takenBack, 79],
  'a user did not see what a process had committed that died at once': [changedWorld, 36],
  'a world was changed by a process that had left it': [changedWorld, 31],
  'a world that a dead process had held was woken by nobody': [changedWorld, 128],
  'a session had its grant removed twice, by itself and by its Runner': [askingSessions, 114],
  'a worker held a session by an older claim than the line had, and could give no slot back': [nestedDelegation, 152],
  'a call was thought to begin too early, since its process wanted to commit something else': [changedWorld, 53],
}

describe('a story of three processes keeps all laws where once', () => {
  it.for(Object.entries(found))('%s', { timeout: 120_000 }, async ([, [story, seed]]) => {
    const { violation } = await simulate({ ...story, processes: 3, faults: oneByOne(everyFleetFault), seed })
    expect(violation).toBeUndefined()
  })

  it(
    'a world was parked whose last tick could not be written, and nobody opened it',
    { timeout: 120_000 },
    async () => {
      expect(
        (await simulate({ ...supportDesk, faults: oneByOne(everyFleetFault), seed: 361 })).violation,
      ).toBeUndefined()
    },
  )

  it('the law of spending blamed what is spent below a session that was given up', { timeout: 120_000 }, async () => {
    const { violation } = await simulate({ ...grantedTokens, processes: 3, faults: everyFleetFault, seed: 48 })
    expect(violation).toBeUndefined()
  })
})

describe('a root whose last holder has closed it', () => {
  it('is not forgotten when one that was succeeded closes it too', async () => {
    const store = memoryStore()
    const snapshot = { tick: 0, lines: ['{}'] }
    const first = await store.open('desk')
    await first.commit({ snapshot })
    const second = await store.open('desk', { seize: true })
    await second.close()
    const third = await store.open('desk')
    await first.close()
    await expect(store.open('desk')).rejects.toMatchObject({ code: 'world-locked' })
    await third.close()
    await store.close()
  })
})
