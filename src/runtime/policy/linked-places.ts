import { homedir } from 'node:os'
import { pathArguments } from '../../rules/policy/call.ts'
import { absolute } from '../../rules/policy/paths.ts'
import { PlacesOfCall } from '../../rules/policy/call-places.ts'
import type { JsonObject } from '../../world/json.ts'
import { RealPaths } from './real-paths.ts'

/** Where the paths among the arguments of a call lead now, by the paths as given: those that are links or lie behind one. */
export async function linkedPlaces(given: JsonObject, cwd: string): Promise<Readonly<Record<string, string>>> {
  const call = { tool: '', arguments: given, channel: 'cli' as const, cwd, home: homedir() }
  const disk = new RealPaths({ folder: cwd })
  const paths = new Set([cwd, ...pathArguments(call).map((path) => absolute(path, call))])
  const real = await Promise.all([...paths].map(async (path) => [path, await disk.leadsTo(path)] as const))
  return new PlacesOfCall({ ...call, facts: { real: Object.fromEntries(real) } }).links()
}
