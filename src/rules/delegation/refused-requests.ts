import type { EntiaErrorCode } from '../../world/entia-error.ts'
import type { World } from '../../world/world.ts'

/** Why a program's request about sessions was not granted. */
export interface RefusedRequest {
  readonly code: EntiaErrorCode
  readonly reason: string
}

/** Of refusals that are never taken, so many are kept, the newest. */
const maxKept = 1_000

/** A refusal leaves nothing in a world and tells listeners nothing: it is an answer to the one who asked. */
const refusals = new WeakMap<World, Map<string, RefusedRequest>>()

/** Keeps a refusal for the one who asked, until it is taken. */
export function noteRefused(world: World, request: string, refused: RefusedRequest): void {
  let kept = refusals.get(world)
  if (kept === undefined) refusals.set(world, (kept = new Map()))
  kept.set(request, refused)
  const [oldest] = kept.keys()
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
}

/** Takes the refusal of a request; `undefined` if it was granted. */
export function takeRefused(world: World, request: string): RefusedRequest | undefined {
  const kept = refusals.get(world)
  const refused = kept?.get(request)
  kept?.delete(request)
  return refused
}
