import { Archival } from 'entia/context'
import { simulate, type SimulateOptions, standardLaws } from 'entia/sim'
import { describe, expect, it } from 'vitest'
import archivalOnABadDisk from './told/archival-on-a-bad-disk.ts'
import askingSessions from './told/asking-sessions.ts'
import cancelStorm from './told/cancel-storm.ts'
import changedWorld from './told/changed-world.ts'
import compaction from './told/compaction.ts'
import { everyFault, oneByOne } from './told/every-fault.ts'
import handles from './told/handles.ts'
import laterTries from './told/later-tries.ts'
import nestedDelegation from './told/nested-delegation.ts'
import subtasks from './told/subtasks.ts'

/** The story of compaction, with an agent whose sessions archive their turns as well. */
const archivedBesides: SimulateOptions = {
  ...compaction,
  laws: standardLaws,
  world(seed) {
    const world = compaction.world(seed)
    world.add(1, Archival({ enabled: true, trigger: { tokenThreshold: 150, toolCallThreshold: 3 } }))
    return world
  },
}

/** What sweeps have found and was mended since, by what went wrong. */
const found: Readonly<
  Record<string, readonly [story: SimulateOptions, seed: number, faults: NonNullable<SimulateOptions['faults']>]>
> = {
  'an answered call behind one that waits kept a session from giving its slot back': [nestedDelegation, 1, []],
  'a last tick whose commit was refused left the clock to run ahead of work': [
    cancelStorm,
    61,
    [
      { what: 'users.cancel', at: 'storm moment 2' },
      { what: 'store.fails', at: 'store commit 9' },
    ],
  ],
  'the World of a session that was cancelled while it started began all the same': [
    cancelStorm,
    127,
    [
      { what: 'users.cancel', at: 'storm moment 6' },
      { what: 'store.fails', at: 'store commit 12' },
    ],
  ],
  'a session that was called off while a tick of its was committed began what that had asked for, without a slot': [
    cancelStorm,
    324,
    [
      { what: 'users.message', at: 'storm moment 1' },
      { what: 'users.cancel', at: 'storm moment 4' },
      { what: 'crash.afterEffects', at: 'store commit 6' },
    ],
  ],
  "a user's answer was dropped whose session had failed, before that was known": [
    { ...askingSessions, latencyMs: { tool: [0, 0] } },
    14_541,
    [
      { what: 'delivery.late', at: 'market/1.1 outcome 1', ms: 27_685 },
      { what: 'store.full', at: 'store commit 22', ms: 1230 },
      { what: 'delivery.late', at: 'market outcome 4', ms: 25_151 },
      { what: 'model.rateLimited', at: 'market/1.3 model 2' },
      { what: 'crash.afterEffects', at: 'store commit 31' },
    ],
  ],
  'an answer to one session was refused since another had failed': [
    { ...askingSessions, latencyMs: { tool: [0, 0] } },
    2366,
    [
      { what: 'store.full', at: 'store commit 29', ms: 2589 },
      { what: 'delivery.late', at: 'market/1.1 outcome 3', ms: 25_301 },
    ],
  ],
  'an outcome behind that of an earlier try counted as a second one': [
    { ...laterTries, latencyMs: { tool: [0, 0] } },
    17_219,
    [
      { what: 'store.torn', at: 'store commit 2' },
      { what: 'delivery.late', at: 'tries outcome 2', ms: 23_038 },
      { what: 'delivery.late', at: 'tries outcome 5', ms: 29_969 },
      { what: 'delivery.late', at: 'tries outcome 7', ms: 1 },
      { what: 'store.fails', at: 'store commit 11' },
      { what: 'delivery.late', at: 'tries outcome 8', ms: 2200 },
      { what: 'model.rateLimitedFor', at: 'tries model 8', ms: 1281 },
    ],
  ],
  'a tick that followed from a handle counted as work of the tool that kept it': [handles, 332, oneByOne(everyFault)],
  'a session gave its slot back while a turn of its was still archived': [archivedBesides, 8, []],
  "a user's answer to a session whose Runner had died was refused for ever": [
    askingSessions,
    103,
    [{ what: 'crash.child', at: 'market/1.3 commit 4' }],
  ],
  'a run was over before what a cancelled subtask had spent had come in': [
    subtasks,
    7107,
    [
      { what: 'delivery.late', at: 'readers outcome 6', ms: 22_846 },
      { what: 'users.cancel', at: 'readers moment 13' },
    ],
  ],
  'a reset in the midst of a turn let an agent go on that had reached the ceiling of its life by the end of it': [
    subtasks,
    7512,
    [
      { what: 'store.torn', at: 'store commit 34' },
      { what: 'delivery.late', at: 'readers/1.sub6 outcome 3', ms: 6192 },
      { what: 'tool.oversized', at: 'readers/1.sub5 tool 7' },
      { what: 'delivery.late', at: 'readers outcome 9', ms: 22_905 },
    ],
  ],
  'an answer that could not be passed on was dropped as repeated when it came again': [
    askingSessions,
    2231,
    [
      { what: 'store.full', at: 'store commit 20', ms: 1217 },
      { what: 'store.full', at: 'store commit 44', ms: 1901 },
    ],
  ],
  'a timer that set another for its own instant let the clock run ahead of a commit that was tried again': [
    compaction,
    975,
    [
      { what: 'model.unknownTool', at: 'keeper model 1' },
      { what: 'model.truncated', at: 'keeper model 2' },
      { what: 'crash.afterEffects', at: 'store commit 5' },
      { what: 'model.rateLimitedFor', at: 'keeper model 3', ms: 1 },
      { what: 'users.approval', at: 'keeper moment 11' },
      { what: 'crash.afterCommit', at: 'store commit 21' },
      { what: 'model.overloaded', at: 'keeper model 7' },
      { what: 'model.rateLimitedFor', at: 'keeper model 8', ms: 7641 },
      { what: 'model.rateLimitedFor', at: 'keeper model 10', ms: 10_167 },
      { what: 'store.fails', at: 'store commit 33' },
    ],
  ],
  'a user gave up while a Runner that had failed for good was not yet replaced': [
    changedWorld,
    7371,
    [
      { what: 'model.hang', at: 'changes model 1' },
      { what: 'users.cancel', at: 'changes moment 10' },
      { what: 'model.overloaded', at: 'changes model 5' },
      { what: 'store.full', at: 'store commit 25', ms: 2726 },
      { what: 'delivery.late', at: 'changes outcome 9', ms: 17_601 },
    ],
  ],
  'a holder was still written when the Runner that had begun it was closed, and the clock did not wait': [
    archivalOnABadDisk,
    6126,
    oneByOne(archivalOnABadDisk.faults),
  ],
}

describe('a story keeps all laws where once', () => {
  it.for(Object.entries(found))('%s', async ([, [story, seed, faults]]) => {
    const { violation } = await simulate({ ...story, seed, faults })
    expect(violation).toBeUndefined()
  })
})
