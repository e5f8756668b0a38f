import type { BlueprintData } from '../../../components/sessions/blueprint.ts'
import type { HostFactsData } from '../../../src/protocol/host.ts'
import type { SubagentConfig } from '../../../components/sessions/subagent-registry.ts'
import type { ToolDeclaration } from '../../../src/protocol/tool-declaration.ts'
import { type ChildPlan, type ParentView, planChild } from '../../../src/rules/delegation/plan-child.ts'
import { declarationHash } from '../../../src/rules/delegation/hashes.ts'

/** A tool; another description makes it another one. */
export function tool(name: string, description = `Does ${name}.`, changes: Partial<ToolDeclaration> = {}) {
  return { name, description, inputSchema: { type: 'object' }, restart: 'pure', ...changes } satisfies ToolDeclaration
}

/** A Host with these tools, and a catalogue of these skills. */
export function hostWith(
  tools: readonly ToolDeclaration[],
  skills: Readonly<Record<string, readonly ToolDeclaration[]>> = {},
): HostFactsData {
  return {
    retry: {},
    skills: Object.fromEntries(Object.entries(skills).map(([name, theirs]) => [name, hashes(theirs)])),
    tools: hashes(tools),
  }
}

function hashes(tools: readonly ToolDeclaration[]): Record<string, number> {
  return Object.fromEntries(tools.map((each) => [each.name, declarationHash(each)]))
}

/** An agent with a model and nothing else but this. */
export function parentWith(parts: Partial<ParentView> = {}): ParentView {
  return {
    llm: { model: 'scripted/parent' },
    template: '',
    tools: [],
    skills: [],
    permissions: undefined,
    registry: undefined,
    ceiling: undefined,
    ...parts,
  }
}

/** What a synchronous `researcher` of this parent is to be made of. */
export function planned(
  parent: Partial<ParentView>,
  config: Partial<SubagentConfig> = {},
  facts?: HostFactsData,
  loadSkills: readonly string[] = [],
): ChildPlan {
  return planChild(
    parentWith(parent),
    { config: { name: 'researcher', ...config }, loadSkills, isBackground: false },
    facts,
  )
}

/** The same, where it is to be made without a word. */
export function blueprintOf(...request: Parameters<typeof planned>): Omit<BlueprintData, 'hash'> {
  const plan = planned(...request)
  if (!plan.ok) throw new Error(plan.message)
  if (plan.warnings.length > 0) throw new Error(plan.warnings.join('; '))
  return plan.blueprint
}

/** What it is warned of. */
export function warningsOf(...request: Parameters<typeof planned>): readonly string[] {
  const plan = planned(...request)
  if (!plan.ok) throw new Error(plan.message)
  return plan.warnings
}

/** What the plan has of these fields. */
export function toolsOf(...request: Parameters<typeof planned>) {
  const plan = planned(...request)
  if (!plan.ok) throw new Error(plan.message)
  const { hostTools, tools, skills, hostSkills } = plan.blueprint
  return { hostTools, tools, skills, hostSkills }
}
