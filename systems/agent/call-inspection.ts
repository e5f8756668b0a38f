import { AwaitingJudgement, Inspection } from '../../components/agent/policy.ts'
import { Effect, OwnedBy, Pending } from '../../components/effects/effect.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { declarationHash } from '../../src/rules/delegation/hashes.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** Longest inspection of a call, the Host's policy function included, in ms. */
const timeoutMs = 60_000

/**
 * Lets a call of an agent with a `Policy` wait until it is judged. What a world tool without an `operation` does stays in
 * the world, so only its turn is waited for; any other call is inspected.
 */
export function awaitJudgement(world: World, call: Entity, declaration: ToolDeclaration): void {
  world.add(call, AwaitingJudgement)
  if (declaration.world === true && declaration.operation === undefined) return
  const { agent } = world.read(call, OwnedBy)
  world.spawn(
    Inspection({ call, declaration: declarationHash(declaration) }),
    OwnedBy({ agent }),
    Effect({ attempt: 1, kind: 'inspect', restart: 'pure', timeoutMs }),
    Pending,
  )
}

/** Do facts about a call count for the tool as it is declared now? */
export function isInspected(world: World, inspection: Entity, declaration: ToolDeclaration): boolean {
  return world.read(inspection, Inspection).declaration === declarationHash(declaration)
}
