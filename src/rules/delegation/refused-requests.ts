import type { EntiaErrorCode } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'

export interface RefusedRequest {
  readonly code: EntiaErrorCode
  readonly reason: string
}

/** Most refusals kept, the newest. */
const maxKept = 1_000

/** By request. Never saved or emitted: only the requesting program reads its refusal. */
const refusals = () => new Map<string, RefusedRequest>()

/** Keeps a refusal until its program takes it. */
export function noteRefused(world: World, request: string, refused: RefusedRequest): void {
  const kept = world.unsaved(refusals)
  kept.set(request, refused)
  const [oldest] = kept.keys()
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
}

/** Takes a request's refusal; `undefined` if it was granted. */
export function takeRefused(world: World, request: string): RefusedRequest | undefined {
  const kept = world.unsaved(refusals)
  const refused = kept.get(request)
  kept.delete(request)
  return refused
}
