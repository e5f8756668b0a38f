import type { EntiaErrorCode } from '../../world/entia-error.ts'
import type { World } from '../../world/world.ts'

/** Why a program's request about sessions was not granted. */
export interface RefusedRequest {
  readonly code: EntiaErrorCode
  readonly reason: string
}

/** Of refusals that are never taken, so many are kept, the newest. */
const maxKept = 1_000

/** By request. Never saved and never emitted: only the program that asked reads its refusal. */
const refusals = () => new Map<string, RefusedRequest>()

/** Keeps a refusal for the one who asked, until it is taken. */
export function noteRefused(world: World, request: string, refused: RefusedRequest): void {
  const kept = world.unsaved(refusals)
  kept.set(request, refused)
  const [oldest] = kept.keys()
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
}

/** Takes the refusal of a request; `undefined` if it was granted. */
export function takeRefused(world: World, request: string): RefusedRequest | undefined {
  const kept = world.unsaved(refusals)
  const refused = kept.get(request)
  kept.delete(request)
  return refused
}
