import type { Tool } from '../../tools/port.ts'
import { skillPlaces, skillsIn, type SkillsOptions } from './list-skills.ts'
import { skillCatalogue } from './skill-catalogue.ts'
import { skillTool } from './skill-tool.ts'

/** What a chat session has of skills. */
export interface SessionSkills {
  /** The tool `skill`, if there is a skill. */
  readonly tools: readonly Tool[]
  /** For the system prompt: names and descriptions. Absent: there is no skill. */
  readonly text?: string | undefined
  /** What the user should know. */
  readonly notices: readonly string[]
}

/**
 * The skills of the user, of the working folder and of tool packages.
 *
 * @param given tools of the chat session: `all` and `skill` grant skills, and a tool named `skill` stands in for them
 * @param packages folders with skills of tool packages
 */
export async function sessionSkills(
  given: readonly (string | Tool)[],
  options: SkillsOptions,
  packages: readonly string[] = [],
): Promise<SessionSkills> {
  const isGranted = given.some((tool) => tool === 'all' || tool === 'skill')
  const isTaken = given.some((tool) => typeof tool !== 'string' && tool.declaration.name === 'skill')
  if (!isGranted || isTaken) return { tools: [], notices: [] }
  const places = skillPlaces(options, packages)
  const { text, notices } = skillCatalogue(await skillsIn(places))
  return { tools: text === undefined ? [] : [skillTool(places)], text, notices }
}
