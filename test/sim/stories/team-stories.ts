import { fail } from 'entia'
import type { SimulateOptions } from '../../../src/sim/index.ts'
import { calls, delegate, read, type Script, scriptedTeam, type TeamOptions, wait } from './scripted-team.ts'

type Team = Partial<TeamOptions>

/** Goes and looks once, and says so in an envelope. */
const scout: Script = (task) => [
  calls(['look', { at: task }]),
  `<subagent_background_result><summary>Seen.</summary><full_result>Seen ${task}.</full_result></subagent_background_result>`,
]

/** Background sessions that are awaited in all ways. */
const waiting = (team: Team = {}): SimulateOptions => ({
  ...scriptedTeam({
    scripts: {
      lead: () => [
        calls(
          delegate('scout', 'alpha'),
          delegate('scout', 'beta'),
          delegate('digger', 'gamma'),
          delegate('liar', 'delta'),
        ),
        calls(wait('any')),
        calls(wait('any', [2, 3]), ['look', { at: 'home' }]),
        calls(wait('all', [], 3)),
        calls(read(1), read(2, { read_method: 'summary' }), read(3, { timeout: 2 }), [
          'subagent_status',
          { session_id: '3' },
        ]),
        calls(wait('all')),
        calls(read(3), read(4)),
        'The end.',
      ],
      scout,
      digger: () => [calls(['dig']), 'Dug.'],
      liar: () => [fail('refused', { message: 'boom' })],
    },
    ...team,
  }),
  maxSessions: 2,
})

/** Sessions that delegate in turn, with one slot for all of them. */
const nesting = (team: Team = {}): SimulateOptions => ({
  ...scriptedTeam({
    scripts: {
      lead: () => [
        calls(delegate('boss', 'north'), delegate('boss', 'south', {}), ['look', { at: 'home' }]),
        calls(delegate('boss', 'east', {}), wait('all')),
        'The rest may wait.',
        calls(read(1)),
        'The end.',
      ],
      boss: (task) => [
        calls(delegate('scout', `${task} one`, {}), ['look', { at: task }]),
        calls(delegate('scout', `${task} two`), delegate('scout', `${task} three`)),
        calls(wait('all'), ['look', { at: task }]),
        calls(read(2), delegate('scout', `${task} four`)),
        'While the last one is under way.',
        calls(read(4)),
        `Looked ${task} over.`,
      ],
      scout,
    },
    ...team,
  }),
  maxSessions: 1,
})

/** Forks, some of which delegate. */
const forking = (team: Team = {}): SimulateOptions => ({
  ...scriptedTeam({
    scripts: {
      lead: (task) =>
        task.startsWith('fork: ')
          ? [calls(['look', { at: task }]), calls(delegate('scout', task)), calls(wait('any')), `Done ${task}.`]
          : [
              calls(['look', { at: 'home' }]),
              calls(delegate('fork', 'left'), delegate('fork', 'right'), delegate('scout', 'middle')),
              calls(wait('all')),
              calls(delegate('fork', 'up'), read(1)),
              'The end.',
              calls(read(4)),
              'The very end.',
            ],
      scout,
    },
    ...team,
  }),
  maxSessions: 2,
})

/** Sessions that are too slow, or are called off while they are queued, run, or have ended. */
const stopping = (team: Team = {}): SimulateOptions => ({
  ...scriptedTeam({
    scripts: {
      lead: () => [
        calls(
          delegate('boss', 'north', { background: true, timeout: 6 }),
          delegate('boss', 'south'),
          delegate('digger', 'deep'),
        ),
        calls(wait('any', [1], 4)),
        calls(['subagent_cancel', { session_id: '2' }], wait('any', [2]), ['subagent_cancel', { session_id: '3' }]),
        calls(delegate('digger', 'deeper', { timeout: 3 }), delegate('scout', 'late'), [
          'subagent_cancel',
          { session_id: '5' },
        ]),
        calls(delegate('scout', 'last'), wait('all', [1, 2, 6])),
        calls(['subagent_cancel', { session_id: '1' }], ['subagent_status']),
        'The end.',
      ],
      boss: (task) => [
        calls(delegate('digger', `${task} one`), delegate('scout', `${task} two`)),
        calls(wait('all')),
        calls(delegate('digger', `${task} three`, {})),
        'Managed.',
      ],
      digger: () => [calls(['dig']), calls(['dig'], ['look', { at: 'the hole' }]), 'Dug.'],
      scout,
    },
    ...team,
  }),
  maxSessions: 2,
})

/** Sessions that did not succeed and are gone on with. */
const resuming = (team: Team = {}): SimulateOptions => ({
  ...scriptedTeam({
    scripts: {
      lead: () => [
        calls(
          delegate('boss', 'north', { background: true, timeout: 12 }),
          delegate('boss', 'south'),
          delegate('liar', 'lies'),
        ),
        calls(wait('any', [1], 8)),
        calls(['subagent_cancel', { session_id: '2' }], ['subagent_resume', { session_id: '2' }]),
        calls(wait('all')),
        calls(['subagent_resume', { session_id: '1' }], ['subagent_resume', { session_id: '3' }]),
        calls(wait('all')),
        calls(['subagent_resume', { session_id: '4' }], ['subagent_resume', { session_id: '5' }]),
        calls(wait('all')),
        'The end.',
      ],
      boss: (task) => [
        calls(delegate('digger', `${task} one`), delegate('scout', `${task} two`)),
        calls(wait('all', [], 30)),
        calls(delegate('digger', `${task} three`, {})),
        'Managed.',
      ],
      digger: () => [calls(['dig']), 'Dug.'],
      liar: () => [calls(['look', { at: 'nothing' }]), fail('refused', { message: 'boom' })],
      scout,
    },
    ...team,
  }),
  maxSessions: 2,
})

/** Sessions that have succeeded and are asked more, which they find out by delegating. */
const asking = (team: Team = {}): SimulateOptions => ({
  ...scriptedTeam({
    scripts: {
      lead: () => [
        calls(delegate('boss', 'north'), delegate('scout', 'south')),
        calls(wait('all')),
        calls(
          ['query_subagent', { id: '1', prompt: 'And the west?' }],
          ['query_subagent', { id: '1', prompt: 'And the east?' }],
          ['query_subagent', { id: '2', prompt: 'Sure?' }],
        ),
        calls(['spawn_subagent', { task: 'work' }], ['query_subagent', { id: '2', prompt: 'Really?' }]),
        'Asked.',
        'The end.',
      ],
      boss: (task) => [
        calls(delegate('scout', `${task} one`, {})),
        'First.',
        calls(delegate('scout', `${task} two`), delegate('scout', `${task} three`, {})),
        calls(wait('all')),
        'Second.',
        'Third.',
      ],
      scout,
    },
    ...team,
  }),
  maxSessions: 1,
})

/** A team whose tokens, money, sessions and steps are short. */
const saving = (team: Team = {}): SimulateOptions => ({
  ...scriptedTeam({
    scripts: {
      lead: () => [
        calls(
          delegate('boss', 'north'),
          delegate('boss', 'south'),
          delegate('scout', 'west'),
          delegate('scout', 'east'),
        ),
        calls(wait('all', [], 60)),
        calls(delegate('boss', 'up'), delegate('scout', 'down'), ['look', { at: 'home' }], ['look', { at: 'hill' }]),
        calls(wait('all')),
        calls(delegate('boss', 'in', {}), delegate('scout', 'out', {})),
        'The end.',
      ],
      boss: (task) => [
        calls(delegate('scout', `${task} one`), delegate('scout', `${task} two`)),
        calls(wait('any')),
        calls(delegate('boss', `${task} below`), delegate('scout', `${task} three`)),
        calls(wait('all')),
        calls(['look', { at: task }], ['look', { at: task }]),
        'Managed.',
      ],
      scout: (task) => [
        calls(['look', { at: task }]),
        calls(['look', { at: task }]),
        calls(['look', { at: task }]),
        'Seen.',
      ],
    },
    configs: { scout: { maxSteps: 3, limits: { tokens: 120 } }, boss: { maxSteps: 5 } },
    limits: { tokens: 3_000, costUsd: 1, sessions: 9, depth: 2 },
    outputTokens: 40,
    maxToolCalls: 8,
    ...team,
  }),
  maxSessions: 3,
})

/** What a program delegates: with nobody who is told of it, under an id that is used twice, or to a fork. */
const programming = (team: Team = {}): SimulateOptions => ({
  ...scriptedTeam({
    scripts: {
      lead: (task) =>
        task.startsWith('fork: ') ? ['Forked.'] : [calls(wait('all')), 'Heard.', 'Heard more.', 'And more.'],
      scout,
      digger: () => [calls(['dig']), 'Dug.'],
    },
    asked: [
      { kind: 'delegate', agent: 1, category: 'scout', prompt: 'one', correlationId: 'one', notify: false },
      { kind: 'delegate', agent: 1, category: 'digger', prompt: 'two', correlationId: 'two', timeoutMs: 15_000 },
      { kind: 'delegate', agent: 1, category: 'digger', prompt: 'three', correlationId: 'three', notify: false },
      { kind: 'delegate', agent: 1, category: 'scout', prompt: 'four', correlationId: 'four' },
      { kind: 'delegate', agent: 1, fork: true, prompt: 'five', correlationId: 'five' },
    ],
    ...team,
  }),
  maxSessions: 2,
})

/** A lead that may spend so much and no more, sessions and questions to them included. */
const spending = (team: Team = {}): SimulateOptions => ({
  ...scriptedTeam({
    scripts: {
      lead: () => [
        calls(delegate('scout', 'north'), delegate('boss', 'south'), ['look', { at: 'home' }]),
        calls(delegate('scout', 'west', {}), ['look', { at: 'hill' }]),
        calls(['query_subagent', { id: '3', prompt: 'Sure?' }], ['dig']),
        calls(['look', { at: 'left' }], ['look', { at: 'right' }]),
        calls(wait('all')),
        calls(['look', { at: 'up' }]),
        'The end.',
        calls(['look', { at: 'down' }]),
        'The very end.',
      ],
      boss: (task) => [calls(delegate('scout', `${task} one`)), calls(wait('all')), 'Managed.'],
      scout,
    },
    ceilings: { maxSessionCostUsd: 0.012, maxTurnCostUsd: 0.008 },
    outputTokens: 40,
    ...team,
  }),
  maxSessions: 2,
})

/** All stories, by name. */
export const teamStories = {
  waiting,
  nesting,
  forking,
  stopping,
  resuming,
  asking,
  saving,
  programming,
  spending,
}
