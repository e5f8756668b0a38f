import { factText, type TraceEntry } from './trace-entry.ts'

export function rootOf(agents: ReadonlyMap<string, unknown>): string | undefined {
  return [...agents.keys()].find((label) => !label.includes('/'))
}

/** The labels of all worlds in a trace with their agents, in order. */
export function agentsOf(entries: readonly TraceEntry[]): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const { label, type, facts } of entries) {
    if (label === '-') continue
    const agents = found.get(label) ?? []
    found.set(label, agents)
    const { agent, sequence } = facts
    if (typeof agent !== 'number') continue
    if (!agents.includes(agent)) agents.push(agent)
    const child = `${label}/${agent}.${factText(sequence)}`
    if (type === 'session-queued' && !found.has(child)) found.set(child, [])
  }
  return found
}
