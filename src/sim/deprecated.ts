import { misuse } from './describe-value.ts'
import type { Recording } from '../engine/recording/recording.ts'
import { replay, type ReplayedWorld, type ReplayOptions } from '../engine/recording/replay.ts'
import type { Fault, FaultRates } from './fault.ts'
import {
  type SimulatedUser,
  simulatedUser,
  type SimulatedUserOptions,
  type UserAct,
  type UserBehaviour,
} from './simulated-user.ts'

// Names of the version before, which work until the next one.

/** @deprecated It is `Recording` of `entia`. */
export type SavedRecording = Recording

/** @deprecated Use `replay` of `entia`: it takes what `loadRecording` gives, and its result has `worlds`. */
export function replaySaved(saved: Recording, options: ReplayOptions): readonly ReplayedWorld[] {
  return replay(saved, options).worlds
}

/** @deprecated Use `simulatedUser`. */
export const person = simulatedUser
/** @deprecated Use `SimulatedUser`. */
export type Person = SimulatedUser
/** @deprecated Use `SimulatedUserOptions`. */
export type PersonOptions = SimulatedUserOptions
/** @deprecated Use `UserAct`. */
export type PersonAct = UserAct
/** @deprecated Use `UserBehaviour`. */
export type PersonBehaviour = UserBehaviour

export interface NamedRates extends FaultRates {
  /** @deprecated Use `users`. */
  readonly people?: FaultRates['users']
}

export interface NamedFault extends Omit<Fault, 'what'> {
  readonly what: Fault['what'] | `people.${keyof NonNullable<FaultRates['users']>}`
}

/** @throws `invalid-argument` if both names are given */
export function renamed<T>(where: string, [before, now]: readonly [string, string], old: T, given: T): T {
  if (old === undefined || given === undefined) return given ?? old
  const what = `${where}: '${before}' is the old name of '${now}', and both are given`
  throw misuse(`${what}. Pass '${now}' alone.`)
}

/** Faults under their new names; each is validated later. */
export function withNewNames(faults: NamedRates | readonly NamedFault[]): FaultRates | readonly Fault[] {
  if (isList(faults)) {
    return faults.map((fault) => {
      const { what } = (fault ?? {}) as Partial<NamedFault>
      const isOld = typeof what === 'string' && what.startsWith('people.')
      return (isOld ? { ...fault, what: what.replace('people.', 'users.') } : fault) as Fault
    })
  }
  // oxlint-disable-next-line typescript/no-deprecated -- this is where it is read
  const { people, ...rates } = faults
  if (people === undefined) return rates
  return { ...rates, users: renamed('faults', ['people', 'users'], people, rates.users) ?? {} }
}

function isList(faults: NamedRates | readonly NamedFault[]): faults is readonly NamedFault[] {
  return Array.isArray(faults)
}
