import { refuseUnknownOptions } from '../base/known-options.ts'
import type { EntiaError } from '../base/entia-error.ts'
import { describeValue, misuse } from './describe-value.ts'

/** Every fault a simulation can inject, by where it strikes. */
export const faultNames = {
  model: [
    'rateLimited', //        refused for now
    'rateLimitedFor', //     the same, and the provider says for how long
    'overloaded',
    'truncated', //          the stream breaks off
    'hang', //               no answer ever comes
    'malformedToolCall', //  the arguments are no JSON
    'unknownTool', //        a tool that no agent has is called
    'emptyReply',
    'refused',
    'contextOverflow',
  ],
  tool: [
    'throws', //     before it has done anything
    'throwsLate', // after it has done it
    'hang', //       no result ever comes
    'slow',
    'oversized', //  a result of a megabyte
    'invalid', //    a result that is no result
  ],
  /** The outcome of work, on its way into its world. */
  delivery: ['duplicated', 'late', 'reordered'],
  /** A transaction of the store, or an append to a transcript. */
  store: [
    'fails', // once
    'full', //  for a while
    'torn', //  the process dies while it is written; it counts for nothing, of an append half of the lines is there
    'slow', //  ticks take a while to be written, and what comes due meanwhile arrives during their commit
  ],
  /** The process dies at a transaction; `child`: only the Runner of a session, permanently. */
  crash: ['beforeCommit', 'afterCommit', 'afterEffects', 'child'],
  users: [
    'message', //   speaks to an agent that may be at work
    'cancel', //    stops an agent
    'approval', //  answers an open approval
  ],
  /** A call of a model or a tool, an act of a simulated user, or a letter without a time of its own. */
  latency: [
    'together', // it ends at the instant at which another one ends that is under way
  ],
  /** The event loop, when it turns to what has come due. */
  loop: [
    'busy', // what comes due within a while arrives in one tick
  ],
  /** One of several processes, at a commit or a call of its to what they share. */
  process: [
    'pause', //    it stands still for a while, as after SIGSTOP
    'suspect', //  it is thought dead although it lives, and what it holds is given away
    'deploy', //   it is ended in an orderly way, and replaced by one whose tools have changed
  ],
  /** The way of one of several processes to what they share. */
  net: [
    'cut', //      its calls neither fail nor answer for a while
    'unknown', //  a call was done, and its reply is lost
    'late', //     the process dies, and the call it has made is done after its connection is gone
  ],
  /** News of letters and of the line. */
  notify: ['lost'],
  /** A session that is given to a worker. */
  dispatch: [
    'twice', //  it is given to one more, although it is held
    'late', //   the worker learns of it after a while
  ],
  /** A process that starts: its clocks are off, and run at another rate. */
  clock: ['skew'],
} as const

/** Where in the engine a fault can strike. */
export type FaultSite = keyof typeof faultNames

type NameAt = { [S in FaultSite]: `${S}.${(typeof faultNames)[S][number]}` }
/** The faults that a simulation injects. */
export type FaultName = NameAt[FaultSite]

/** One fault of a run. Plain data, so that a case can be pasted into a test. */
export interface Fault {
  readonly what: FaultName
  /** The place as the trace names it: world, kind and number, such as `team tool 3`. */
  readonly at: string
  /** Duration of faults that have one. @default drawn from the seed */
  readonly ms?: number
}

/**
 * The probability of each fault at each place where it can strike, from 0 to 1. @default 0; 0.5 for `latency.together`, 0.3
 * for `loop.busy` and, with one process, for `store.slow`
 */
export type FaultRates = {
  readonly [S in Exclude<FaultSite, 'crash'>]?: { readonly [N in (typeof faultNames)[S][number]]?: number }
} & {
  readonly crash?: {
    /** At a transaction: before it, after it, or after the effects it started. */
    readonly perTick?: number
    /** At a transaction of a session's world: only its Runner fails. */
    readonly child?: number
  }
}

/**
 * What a real event loop meets all the time: it strikes runs whose faults are no list, unless they say otherwise, and only
 * where something else arrives by it. With several processes `store.slow` is 0: each of their writes takes a while.
 */
export const usualRates = {
  latency: { together: 0.5 },
  loop: { busy: 0.3 },
  store: { slow: 0.3 },
} as const satisfies FaultRates

/** Whether a fault is one of those that strike where nothing is said of faults. */
export function isUsual({ what }: Fault): boolean {
  const [site = '', name = ''] = what.split('.')
  const usual: FaultRates = usualRates
  return Object.hasOwn(usual[site as keyof FaultRates] ?? {}, name)
}

/** The non-zero probabilities of a site, in a fixed order. @throws `invalid-argument` */
export function ratesAt(rates: FaultRates, site: FaultSite): readonly (readonly [FaultName, number])[] {
  const names: readonly string[] = faultNames[site]
  const given = Object.entries(rates[site] ?? {}).flatMap(([name, rate]): (readonly [string, number])[] => {
    if (!(typeof rate === 'number' && rate >= 0 && rate <= 1)) {
      const what = `faults: ${site}.${name} must be a probability from 0 to 1, got ${describeValue(rate)}`
      throw misuse(`${what}.`)
    }
    if (site === 'crash' && name === 'perTick') return crashPlaces.map((place) => [place, rate / crashPlaces.length])
    if (!names.includes(name)) throw unknownFault(`${site}.${name}`)
    return [[name, rate]]
  })
  const byName = new Map(given)
  return names.flatMap((name) => {
    const rate = byName.get(name) ?? 0
    return rate === 0 ? [] : [[`${site}.${name}` as FaultName, rate] as const]
  })
}

const crashPlaces = ['beforeCommit', 'afterCommit', 'afterEffects'] as const

export function checkFault(fault: Fault): void {
  // The list may come from a file.
  const { what, at, ms } = (fault ?? {}) as Partial<Fault>
  if (typeof what !== 'string') {
    const wanted = "a fault is { what: 'tool.throws', at: 'team tool 3' }"
    throw misuse(`faults: ${wanted}, got ${describeValue(fault)}.`)
  }
  const [site = '', name = ''] = what.split('.')
  const names: readonly string[] = Object.hasOwn(faultNames, site) ? faultNames[site as FaultSite] : []
  if (!names.includes(name)) throw unknownFault(what)
  if (typeof at !== 'string') {
    throw misuse(`faults: ${what} needs a place, such as { at: 'team tool 3' }.`)
  }
  if (ms !== undefined && !(Number.isSafeInteger(ms) && ms >= 0)) {
    const wanted = 'a whole number of milliseconds, 0 or more'
    throw misuse(`faults: ms of ${what} at ${at} must be ${wanted}, got ${describeValue(ms)}.`)
  }
  refuseUnknownOptions(`faults: ${what} at ${at}`, fault, ['what', 'at', 'ms'])
}

export function checkSites(rates: FaultRates): void {
  for (const [site, given] of Object.entries(rates)) {
    if (!Object.hasOwn(faultNames, site)) throw unknownFault(site)
    if (given === undefined || (typeof given === 'object' && given !== null && !Array.isArray(given))) continue
    const wanted = `probabilities by name, such as { ${faultNames[site as FaultSite][0]}: 0.1 }`
    throw misuse(`faults: ${site} has ${wanted}, got ${describeValue(given)}.`)
  }
}

function unknownFault(name: string): EntiaError {
  const known = Object.entries(faultNames).map(([site, names]) => `${site} (${names.join(', ')})`)
  return misuse(`faults: there is no '${name}'. Known: ${known.join('; ')}.`)
}
