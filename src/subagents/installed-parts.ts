import type { BlueprintData } from '../../components/blueprint.ts'
import type { Skill } from '../../components/skills.ts'
import type { ToolDeclaration } from '../../components/tool-declaration.ts'
import { parseModel } from '../models/model-name.ts'
import type { Catalogue } from './port.ts'

/** What a session's agent is given. */
export interface InstalledParts {
  readonly tools: readonly ToolDeclaration[]
  readonly skills: readonly Skill[]
  /** Of these tools, those that the Host has no more since they were captured. */
  readonly gone: readonly ToolDeclaration[]
}

/** The tools and skills of a session's agent; or what the Host lacks. Inherited tools come before those of the Host's skills. */
export function installedParts(
  blueprint: BlueprintData,
  catalogue: Catalogue,
): InstalledParts | { readonly problem: string } {
  const { model } = blueprint.llm
  if (!catalogue.hasProvider(parseModel(model).provider)) return { problem: `Unknown model '${model}'` }
  const tools = new Map<string, ToolDeclaration>()
  const skills = [...blueprint.skills]
  const gone: ToolDeclaration[] = []
  for (const name of blueprint.hostTools) {
    const tool = catalogue.tool(name)
    if (tool === undefined) return { problem: `Unknown tool '${name}'` }
    tools.set(name, tool.declaration)
  }
  for (const declaration of blueprint.tools) {
    if (declaration.world !== true && catalogue.tool(declaration.name) === undefined) gone.push(declaration)
    tools.set(declaration.name, declaration)
  }
  for (const name of blueprint.hostSkills) {
    const skill = catalogue.skill(name)
    if (skill === undefined) return { problem: `Unknown skill '${name}'` }
    const { tools: all = [], ...rest } = skill
    const only = blueprint.hostSkillTools?.find((limited) => limited.skill === name)?.tools
    const own = all.filter(({ declaration }) => only?.includes(declaration.name) !== false)
    for (const { declaration } of own) if (!tools.has(declaration.name)) tools.set(declaration.name, declaration)
    skills.push({ ...rest, ...(own.length > 0 && { tools: own.map((tool) => tool.declaration.name) }) })
  }
  return { tools: [...tools.values()], skills, gone }
}
