import type { FaultRates } from 'entia/sim'

/** A bad day: everything goes wrong now and then. */
export const everyFault: FaultRates = {
  model: {
    rateLimited: 0.02,
    rateLimitedFor: 0.02,
    overloaded: 0.03,
    truncated: 0.02,
    hang: 0.005,
    malformedToolCall: 0.02,
    unknownTool: 0.02,
    emptyReply: 0.01,
    refused: 0.005,
    contextOverflow: 0.005,
  },
  tool: { throws: 0.03, throwsLate: 0.03, hang: 0.01, slow: 0.03, oversized: 0.002, invalid: 0.01 },
  delivery: { duplicated: 0.03, late: 0.03, reordered: 0.03 },
  store: { fails: 0.01, full: 0.005, torn: 0.005 },
  crash: { perTick: 0.015, child: 0.002 },
  users: { message: 0.01, cancel: 0.003, approval: 0.02 },
}

/** These faults where outcomes arrive one by one, as in runs that are known by a seed from before they arrived together. */
export function oneByOne(faults: FaultRates): FaultRates {
  return { ...faults, latency: { together: 0 }, loop: { busy: 0 }, store: { ...faults.store, slow: 0 } }
}

/** The same where several processes drive the worlds: they die, stand still, are cut off, suspected and replaced besides. */
export const everyFleetFault: FaultRates = {
  ...everyFault,
  process: { pause: 0.002, suspect: 0.003, deploy: 0.001 },
  net: { cut: 0.003, unknown: 0.005, late: 0.002 },
  notify: { lost: 0.05 },
  dispatch: { twice: 0.05, late: 0.05 },
  clock: { skew: 0.3 },
}

/** Stories that say most about several processes: with sessions that wait, are asked for, are stopped, and cost. */
export const toldByFleets: ReadonlySet<string> = new Set([
  'asking-sessions',
  'background-sessions',
  'cancel-storm',
  'ceilings',
  'changed-world',
  'flooded-desk',
  'forks',
  'granted-tokens',
  'nested-delegation',
  'parallel-tools',
  'reserved-budget',
  'single-agent',
  'support-desk',
  'taken-back',
  'two-sleeps',
  'waits-and-timeouts',
])
