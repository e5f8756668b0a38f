import { Approval } from '../../components/approval.ts'
import type { World } from '../world/world.ts'
import type { AnswerInput } from './child-run.ts'
import type { Sessions } from './sessions.ts'

/** Has this world asked what a person answers? */
export function hasAsked(world: World, { approval }: AnswerInput): boolean {
  return world.core.state.holders(Approval).some((asked) => world.read(asked, Approval).id === approval)
}

/** Passes an answer on that this world has not asked for. False: no session below has asked for it either. */
export async function isPassedOn(world: World, sessions: Sessions | undefined, input: AnswerInput): Promise<boolean> {
  return sessions !== undefined && !hasAsked(world, input) && (await sessions.answer(input))
}
