const maxNameChars = 64
/** So that long names of servers leave room for those of their tools. */
const maxServerChars = 30

/** A text of the characters that models' providers take in names. */
function safeName(text: string): string {
  return text.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
}

/** The part of tools' names that is their server's. */
function serverPart(server: string): string {
  return safeName(server).slice(0, maxServerChars)
}

/**
 * Names for a server's tools: `<server>__<tool>`, of at most 64 letters, digits, `_` and `-`. Those that would be the same get a
 * number, in the order of the tools' own names, so that the order in which a server lists them does not count.
 *
 * @param taken names that others have; those given are added
 * @param before names that tools had: they keep them
 * @returns by the tools' own names
 */
export function toolNames(
  server: string,
  tools: readonly string[],
  taken: Set<string> = new Set(),
  before: ReadonlyMap<string, string> = new Map(),
): Map<string, string> {
  const names = new Map<string, string>()
  const own = [...new Set(tools)].toSorted()
  for (const tool of own) {
    const name = before.get(tool)
    if (name === undefined || taken.has(name) || !name.startsWith(`${serverPart(server)}__`)) continue
    names.set(tool, name)
    taken.add(name)
  }
  for (const tool of own) {
    if (names.has(tool)) continue
    const name = distinct(`${serverPart(server)}__${safeName(tool)}`, taken)
    names.set(tool, name)
    taken.add(name)
  }
  return names
}

function distinct(name: string, taken: ReadonlySet<string>): string {
  let candidate = name.slice(0, maxNameChars)
  for (let number = 2; taken.has(candidate); number++) {
    const end = `_${number}`
    candidate = name.slice(0, maxNameChars - end.length) + end
  }
  return candidate
}
