import { type Look, lookOf } from '../chat/look.ts'
import type { WorldsOutput } from '../worlds/world-lines.ts'

export interface FleetPlace {
  readonly environment: NodeJS.ProcessEnv
  readonly stdout: NodeJS.WritableStream & {
    readonly columns?: number | undefined
    readonly isTTY?: boolean | undefined
  }
}

/** Where tables of a fleet are printed. @param where the database, as people are shown it */
export function fleetOutput({ environment, stdout }: FleetPlace, where: string, isJson: boolean): WorldsOutput {
  const look: Look = lookOf(stdout, environment)
  const columns = stdout.isTTY === true ? (stdout.columns ?? 80) : undefined
  return { columns, isJson, look, nowMs: Date.now(), where, write: (text) => stdout.write(text) }
}
