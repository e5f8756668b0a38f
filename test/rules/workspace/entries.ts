import type { WorkspaceEntryData } from '../../../components/agent/workspace-entry.ts'

/** A text that a tool gave in turn 1. Frozen, as in a World. */
export function entry(number: number, parts: Partial<WorkspaceEntryData> = {}): WorkspaceEntryData {
  return Object.freeze({
    agent: 1,
    number,
    key: `tool:turn${number}`,
    origin: `tool {"n":${number}}`,
    asked: number,
    type: 'text' as const,
    sizeBytes: 10,
    text: `Result ${number}.`,
    seq: number,
    turn: 1,
    atMs: 0,
    ...parts,
  })
}
