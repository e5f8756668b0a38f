import { Approval, ApprovalOf, ToolCall } from '../../../components/agent/tool-call.ts'
import { Due, Effect, OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import { ModelCall } from '../../../components/effects/model-call.ts'
import type { Component } from '../../world/component.ts'
import { EntiaError, type EntiaErrorCode } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'

/** What an entity with the one component needs, or nothing would ever come of it. Systems write both in one tick. */
const needed: readonly (readonly [has: Component, needs: Component])[] = [
  [Pending, Effect],
  [Running, Effect],
  [Due, Effect],
  [ToolCall, OwnedBy],
  [ModelCall, OwnedBy],
  [Approval, OwnedBy],
  [Approval, ApprovalOf],
]

/**
 * Refuses a world in which something is under way of which a part is gone: it would wait for it for ever.
 * @param advice what to do
 * @throws `code`
 */
export function refuseLostParts(world: World, code: EntiaErrorCode, advice: string): void {
  // From the columns: a query would have bitECS follow these components from here on.
  const { state } = world.core
  for (const [has, needs] of needed) {
    const entity = state.entitiesWith(has).find((each) => !world.has(each, needs))
    if (entity === undefined) continue
    const { name, tick } = world
    throw new EntiaError(
      code,
      `World '${name}', tick ${tick}: entity ${entity} must have ${needs.name} beside its ${has.name}, and has none. ${advice}`,
      { world: name, tick, entity, component: needs.name },
    )
  }
}
