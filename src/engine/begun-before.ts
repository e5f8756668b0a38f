import { Effect } from '../../components/effect.ts'
import { Pending } from '../../components/pending.ts'
import { ToolCall } from '../../components/tool-call.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'

/**
 * The `keyed` tool calls that a world was left with, ascending: each may have begun, and is about to run again. Nothing in
 * the world says which have: to mark that would take a commit before each.
 */
export function begunBefore(world: World): readonly Entity[] {
  const { state } = world.core
  return state.holders(Pending).filter((call) => {
    return state.get(call, ToolCall) !== undefined && world.get(call, Effect)?.restart === 'keyed'
  })
}
