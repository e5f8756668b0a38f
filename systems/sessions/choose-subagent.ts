import { Llm } from '../../components/agent/llm.ts'
import {
  type SubagentConfig,
  SubagentRegistry,
  type SubagentRegistryData,
} from '../../components/sessions/subagent-registry.ts'
import { freeFormConfig } from '../../src/rules/delegation/free-form.ts'
import { byCodePoint } from '../../src/world/by-code-point.ts'
import type { DeepReadonly, Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { isBelowFork } from './below-fork.ts'
import type { Refusal } from './refusal.ts'

/** Who is to do a task. */
export type Chosen = { readonly kind: 'named' | 'free'; readonly config: SubagentConfig } | { readonly kind: 'fork' }

/** What an agent without a registry may delegate to: nobody by name, itself by forking. */
const noRegistry: DeepReadonly<SubagentRegistryData> = { subagents: {} }

/** Finds who a category means: registered, then `fork`, then any name where free-form is on. */
export function chooseSubagent(world: World, agent: Entity, category: string | undefined): Chosen | Refusal {
  const registry = world.get(agent, SubagentRegistry) ?? noRegistry
  const { subagents, defaultCategory, fork, freeForm } = registry
  const forks = fork?.enabled ?? true
  if (category === undefined) {
    const config = defaultCategory === undefined ? undefined : own(subagents, defaultCategory)
    if (config !== undefined) return { kind: 'named', config }
    if (forks) return checkedFork(world, agent)
    return { code: 'invalid-argument', field: 'category', message: 'expected the name of a subagent' }
  }
  const name = category.trim()
  if (name === '') return { code: 'invalid-argument', field: 'category', message: 'expected a text that is not empty' }
  const config = own(subagents, name)
  if (config !== undefined) return { kind: 'named', config }
  if (name === 'fork' && forks) return checkedFork(world, agent)
  if (freeForm?.enabled === true && name !== 'fork') {
    if (world.has(agent, Llm)) return { kind: 'free', config: freeFormConfig(name, freeForm) }
    const message = `Unknown subagent '${name}' cannot be created without a parent model`
    return { code: 'invalid-argument', message }
  }
  const names = Object.keys(subagents).toSorted(byCodePoint).join(', ')
  return {
    code: 'invalid-argument',
    message: `Unknown subagent '${name}'. Available subagents: ${names === '' ? 'none' : names}`,
  }
}

function checkedFork(world: World, agent: Entity): Chosen | Refusal {
  if (isBelowFork(world, agent)) {
    return { code: 'limit-reached', message: 'A fork cannot fork; carry out the directive yourself' }
  }
  if (!world.has(agent, Llm)) return { code: 'invalid-argument', message: 'Cannot fork: the agent has no model' }
  return { kind: 'fork' }
}

function own(subagents: Readonly<Record<string, SubagentConfig>>, name: string): SubagentConfig | undefined {
  return Object.hasOwn(subagents, name) ? subagents[name] : undefined
}
