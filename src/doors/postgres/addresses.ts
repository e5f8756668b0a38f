import { EntiaError } from '../../base/entia-error.ts'
import type { FleetOptions } from './fleet-options.ts'

/** The addresses in texts that have one each, or several with commas between them. A comma amid an address stays. */
export function addressesIn(given: string | readonly string[]): readonly string[] {
  const texts = typeof given === 'string' ? [given] : given
  return texts.flatMap((text) => text.split(/\s*,\s*(?=postgres(?:ql)?:)/i).map((address) => address.trim()))
}

/** Those of a fleet, in their order. @throws `invalid-argument` */
export function addressesOf({ database, direct, maxSessions, maxSessionsPerTenant }: FleetOptions): readonly string[] {
  const addresses = listedIn(database)
  if (addresses.length === 0) throw wrongOption("'database' must name at least one database, got [].")
  if (new Set(addresses).size < addresses.length) throw wrongOption("'database' names one database twice.")
  const past = directOf(direct)?.length ?? addresses.length
  if (past !== addresses.length)
    throw wrongOption(`'direct' must name as many databases as 'database' (${addresses.length}), got ${past}.`)
  for (const [name, most] of Object.entries({ maxSessions, maxSessionsPerTenant })) {
    if (most === undefined || most >= addresses.length) continue
    throw wrongOption(`${name} must be at least ${addresses.length}, one for each database, got ${most}.`)
  }
  return addresses
}

/** The same databases past their poolers. @param direct as a fleet has it */
export function directOf(direct: FleetOptions['direct']): readonly string[] | undefined {
  return direct === undefined ? undefined : listedIn(direct)
}

/** What is no address is refused with its store. */
function listedIn(given: unknown): readonly string[] {
  if (typeof given === 'string') return addressesIn(given)
  return Array.isArray(given)
    ? given.flatMap((each) => (typeof each === 'string' ? addressesIn(each) : [each as string]))
    : [given as string]
}

function wrongOption(what: string): EntiaError {
  return new EntiaError('invalid-argument', `defineFleet: ${what}`)
}
