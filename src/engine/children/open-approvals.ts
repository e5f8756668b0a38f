import { Approval } from '../../../components/agent/tool-call.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import type { Judged } from '../../protocol/policy.ts'
import type { Entity } from '../../world/component.ts'
import type { JsonObject } from '../../world/json.ts'
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

/** The approvals that one World asks for. @param path of its session. @default it is the root */
export function openApprovals(world: World, path: readonly string[] = []): readonly OpenApproval[] {
  return world.entitiesWith(Approval).map((entity) => {
    const { id, ...asked } = world.read(entity, Approval)
    const { agent } = world.read(entity, OwnedBy)
    return { approval: id, agent, ...asked, ...(path.length > 0 && { path }) }
  })
}
