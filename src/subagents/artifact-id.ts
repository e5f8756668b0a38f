import { sha256 } from '../world/sha256.ts'

/** The id of a session's result: the same one for the same result, so that keeping it twice keeps it once. */
export function artifactIdOf(worldId: string, sessionId: string, result: string): string {
  return `subagent_${sha256(JSON.stringify([worldId, sessionId, result])).slice(0, 24)}`
}

/** Where the result lies in the artifact folder, or under which key in the store. */
export function recordPathOf(artifactId: string): string {
  return `scratchbook/records/subagent/${artifactId}`
}

/** Where the summary of a result lies whose record is there. */
export function summaryPathOf(recordPath: string): string {
  return `${recordPath}.summary`
}
