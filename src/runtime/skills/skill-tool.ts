import { z } from 'zod'
import { cutText } from '../../base/cut-text.ts'
import { defineTool } from '../../tools/define-tool.ts'
import { cleanName, plainText } from '../../tools/files/clean-text.ts'
import type { Tool, ToolOutput } from '../../tools/port.ts'
import { errorOutput } from '../../tools/tool-output.ts'
import { didYouMean } from '../../base/near-names.ts'
import { type ListedSkill, skillNamed, type SkillPlace, skillsIn } from './list-skills.ts'
import { skillName, type SkillFile } from './skill-file.ts'
import { treeOf } from './skill-tree.ts'

/** Files of a skill that a result lists. */
const maxFiles = 200
/** Names of skills that an error lists. */
const maxNames = 100
const maxFactChars = 1_000

const inputSchema = () =>
  z.strictObject({ name: z.string().describe('As the list of skills in the system prompt has it.') })

/** Where each of these tools looks. */
const placesOf = new WeakMap<Tool, readonly SkillPlace[]>()

/** The skills that the tool of a chat session can read, and those that it cannot; none for another tool. */
export async function skillsOfTool(tool: Tool | undefined): Promise<readonly ListedSkill[]> {
  return skillsIn((tool && placesOf.get(tool)) ?? [])
}

/** The tool `skill`: the text of a skill as it is now, and the files in its folder. */
export function skillTool(places: readonly SkillPlace[]): Tool {
  const tool = defineTool({
    name: 'skill',
    description:
      'Gives the instructions of a skill, and lists the files that come with it. Call it before you begin a task that the ' +
      'description of a skill fits. Read its files when its instructions name them.',
    input: inputSchema(),
    restart: 'pure',
    category: 'skill',
    operation: 'read',
    paths: [],
    run: ({ name }) => textOf(name, places),
  })
  placesOf.set(tool, places)
  return tool
}

async function textOf(name: string, places: readonly SkillPlace[]): Promise<string | ToolOutput> {
  const found = skillName.test(name) ? await skillNamed(places, name) : undefined
  if (found === undefined) return errorOutput(await problemOf(name, places))
  const { file, folder } = found
  return [
    `Skill: ${name}`,
    `Folder: ${cleanName(folder)} (paths in the text below count from here)`,
    ...factsOf(file),
    ...(await filesOf(folder)),
    '',
    plainText(file.body),
  ].join('\n')
}

function factsOf({ matter }: SkillFile): readonly string[] {
  const { allowedTools = [], compatibility, license } = matter ?? {}
  const facts = {
    Compatibility: compatibility,
    License: license,
    'Tools that it names': allowedTools.length === 0 ? undefined : `${allowedTools.join(' ')} (this grants nothing)`,
  }
  return Object.entries(facts).flatMap(([label, fact]) =>
    fact === undefined ? [] : [`${label}: ${cutText(cleanName(fact), maxFactChars, '…')}`],
  )
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const lines: string[] = []
  let count = 0
  for await (const { kind, leadsInside, path } of treeOf(folder, 10 * maxFiles)) {
    if (path === 'SKILL.md' || !(kind === 'file' || leadsInside === true)) continue
    if (count++ < maxFiles) lines.push(`  ${cleanName(path)}`)
  }
  if (count === 0) return []
  return ['Files:', ...lines, ...(count > maxFiles ? [`  [${maxFiles} of ${count} or more shown]`] : [])]
}

async function problemOf(name: string, places: readonly SkillPlace[]): Promise<string> {
  const all = await skillsIn(places)
  const broken = all.find((skill) => skill.name === name && !skill.valid)
  if (broken !== undefined) return `the skill ${name} cannot be used. ${broken.problems.join(' ')}`
  const names = [...new Set(all.filter(({ valid }) => valid).map((skill) => skill.name))]
  const given = cutText(cleanName(name), 100, '…')
  if (names.length === 0) return `there is no skill ${given}; none is installed.`
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : ''
  return `there is no skill ${given}.${didYouMean(given, names)} There are: ${names.slice(0, maxNames).join(', ')}${more}.`
}
