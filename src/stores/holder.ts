import { hostname } from 'node:os'
import { EntiaError } from '../world/entia-error.ts'
import { lazily } from '../world/lazily.ts'

/** Who holds a world, and since when: for the error that the next opener gets. */
export interface Holder {
  /** The name it gave itself. */
  readonly holder: string
  readonly pid: number
  readonly host: string
  /** Unix time as ISO 8601. */
  readonly since: string
}

/** Asked of the system once, and not for each World of a session. */
const here = lazily(() => ({ pid: process.pid, host: hostname() }))

/** A holder in this process. */
export function holderHere(name = 'a holder without a name'): Holder {
  return { holder: name, ...here(), since: new Date().toISOString() }
}

/** The refusal of a world that is held; `holder` is `undefined` where it left no readable note. */
export function lockedError(world: string, holder: Holder | undefined, place: string): EntiaError {
  const who = holder
    ? `${holder.holder} (process ${holder.pid} on ${holder.host}, since ${holder.since})`
    : 'another holder, which left no note of itself'
  return new EntiaError(
    'world-locked',
    `The world '${world}' in ${place} is held by ${who}. Only one holder at a time can have it: close it there first, or ` +
      `end that process, whose lock is then free at once.`,
    { world, place, ...holder },
  )
}
