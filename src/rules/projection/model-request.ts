import { Llm } from '../../../components/agent/llm.ts'
import { ModelCall, SideCall } from '../../../components/effects/model-call.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import { sideRequest } from './side-request.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { ModelRequest } from '../../models/port.ts'
import { project } from './project.ts'

/** Whose call of a model an effect is. */
export function callerOf(world: World, effect: Entity): Entity {
  return world.get(effect, SideCall)?.agent ?? world.read(effect, OwnedBy).agent
}

/** The model that an effect calls, `provider/model`. */
export function modelCalledBy(world: World, effect: Entity): string {
  return world.get(effect, SideCall)?.model ?? world.read(callerOf(world, effect), Llm).model
}

/** What an effect asks its model, as its world is now: a step of its agent, or a call beside it. */
export function requestOf(world: World, effect: Entity): ModelRequest {
  if (world.has(effect, SideCall)) return sideRequest(world, effect)
  return project(world, callerOf(world, effect), world.read(effect, ModelCall).messages)
}
