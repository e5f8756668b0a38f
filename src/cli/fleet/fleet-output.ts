import { type Look, lookOf } from '../chat/look.ts'
import type { WorldsOutput } from '../worlds/world-lines.ts'
import type { StoreAt } from './fleet-store.ts'

export interface FleetPlace {
  readonly environment: NodeJS.ProcessEnv
  readonly stdout: NodeJS.WritableStream & {
    readonly columns?: number | undefined
    readonly isTTY?: boolean | undefined
  }
  readonly stderr: { write(text: string): unknown }
}

/** Where tables of a fleet are printed. @param stores those that are asked */
export function fleetOutput(
  { environment, stderr, stdout }: FleetPlace,
  stores: readonly StoreAt[],
  isJson: boolean,
  nowMs = Date.now(),
): WorldsOutput {
  const look: Look = lookOf(stdout, environment)
  const columns = stdout.isTTY === true ? (stdout.columns ?? 80) : undefined
  const where = stores.map((store) => store.where).join(' and ')
  const report = (text: string): unknown => stderr.write(text)
  return { columns, isJson, look, nowMs, report, where, write: (text) => stdout.write(text) }
}
