import type { HostFactsData } from '../../protocol/host.ts'

/**
 * Hashes of the declarations that a world's Hosts had, by the name of the tool: those of the last one, and those that agents
 * keep from earlier ones. A declaration that is not among them is a program's own.
 */
export function knownDeclarations(facts: HostFactsData | undefined): ReadonlyMap<string, ReadonlySet<number>> {
  const known = new Map<string, Set<number>>()
  const note = (name: string, hash: number): void => {
    const hashes = known.get(name)
    if (hashes === undefined) known.set(name, new Set([hash]))
    else hashes.add(hash)
  }
  for (const tools of [facts?.tools ?? {}, ...Object.values(facts?.skills ?? {})]) {
    for (const [name, hash] of Object.entries(tools)) note(name, hash)
  }
  for (const [name, hashes] of Object.entries(facts?.keptTools ?? {})) for (const hash of hashes) note(name, hash)
  return known
}
