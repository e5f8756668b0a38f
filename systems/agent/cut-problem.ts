import { Llm } from '../../components/agent/llm.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** What a model reads about a call that its reply was cut in. */
export function cutProblem(world: World, agent: Entity, tool: string): string {
  const limit = world.get(agent, Llm)?.maxOutputTokens
  const where = limit === undefined ? 'the token limit' : `the limit of ${limit} tokens`
  return `'${tool}' did not run: your reply was cut at ${where} before its arguments were complete. Call it again with shorter arguments, or in several calls.`
}
