import { Approval } from '../../../components/agent/tool-call.ts'
import { OwnedBy, Pending } from '../../../components/effects/effect.ts'
import type { Judged } from '../../protocol/policy.ts'
import type { Entity } from '../../world/component.ts'
import type { JsonObject } from '../../base/json.ts'
import type { World } from '../../world/world.ts'

/** A call that waits for a person's yes, in a world or in a session below it. */
export type OpenApproval = Judged & {
  /** Names it in the answer. */
  readonly approval: string
  /** Who calls; in the World of the session, where there is a `path`. */
  readonly agent: Entity
  readonly tool: string
  readonly arguments: JsonObject
  readonly callId?: string | undefined
  /** Ids of the sessions above the call, outermost first; absent for the world's own agents. */
  readonly path?: readonly string[]
}

/** Approvals that have no answer: one that is answered may wait until its session has a slot again. */
export function openApprovalsIn(world: World): readonly Entity[] {
  return world.entitiesWith(Approval).filter((approval) => world.has(approval, Pending))
}

/** The approvals that one World asks for. @param path of its session. @default it is the root */
export function openApprovals(world: World, path: readonly string[] = []): readonly OpenApproval[] {
  return openApprovalsIn(world).map((entity) => {
    const { id, ...asked } = world.read(entity, Approval)
    const { agent } = world.read(entity, OwnedBy)
    return { approval: id, agent, ...asked, ...(path.length > 0 && { path }) }
  })
}
