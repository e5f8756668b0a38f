import { shownTools } from './deferred-tools.ts'
import type { z } from 'zod'
import { Skills } from '../../../components/agent/skills.ts'
import { SubagentRegistry } from '../../../components/sessions/subagent-registry.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { listed } from '../delegation/declarations.ts'
import { liveSubagentsIn } from './live-tail.ts'
import type { DeepReadonly, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { byCodePoint } from '../../base/by-code-point.ts'

type Data<Component extends { readonly schema: z.ZodType }> = DeepReadonly<z.infer<Component['schema']>> | undefined

interface Parts {
  readonly prompt: Data<typeof SystemPrompt>
  readonly skills: Data<typeof Skills>
  readonly tools: Data<typeof ToolRegistry>
  readonly registry: Data<typeof SubagentRegistry>
}

/** By its first part. Values of a World are frozen: the same objects give the same text, at every step. */
const promptsKnown = new WeakMap<object, { readonly parts: Parts; readonly full: Rendered }>()

/**
 * An agent's system prompt: the rendered template, the texts of its skills in order of installation, the ending, and
 * the list of live subagents if placed there. Only the template has placeholders. `undefined` if the template is sent
 * as it is.
 */
export function fullPrompt(world: World, agent: Entity): Rendered | undefined {
  const full = promptAlone(world, agent)
  const block = liveSubagentsIn(world, agent, 'system')?.text
  if (block === undefined) return full
  const { text = world.get(agent, SystemPrompt)?.template ?? '', unknown = [] } = full ?? {}
  return { text: text === '' ? block : `${text}\n\n${block}`, unknown }
}

/** Without the list of live subagents. */
function promptAlone(world: World, agent: Entity): Rendered | undefined {
  const prompt = world.get(agent, SystemPrompt)
  const skills = world.get(agent, Skills)
  const key = prompt ?? skills
  if (key === undefined || isWhole(prompt, skills)) return undefined
  const tools = world.get(agent, ToolRegistry)
  const registry = world.get(agent, SubagentRegistry)
  const last = promptsKnown.get(key)
  const parts = { prompt, skills, tools, registry }
  if (last !== undefined && isSame(last.parts, parts)) return last.full
  const full = made(parts)
  promptsKnown.set(key, { parts, full })
  return full
}

/** Is the template sent as it is? */
function isWhole(prompt: Parts['prompt'], skills: Parts['skills']): boolean {
  if (skills?.installed.some((skill) => (skill.prompt ?? '') !== '') === true) return false
  return prompt === undefined || ((prompt.ending ?? '') === '' && !hasPlaceholder(prompt.template))
}

function isSame(before: Parts, after: Parts): boolean {
  return (
    before.prompt === after.prompt &&
    before.skills === after.skills &&
    before.tools === after.tools &&
    before.registry === after.registry
  )
}

function made({ prompt, skills, tools, registry }: Parts): Rendered {
  const installed = skills?.installed ?? []
  const { text, unknown } = renderPrompt(prompt?.template ?? '', {
    tools: shownTools(tools?.tools ?? []),
    skills: installed,
    subagents: Object.values(registry?.subagents ?? {}),
    isFreeForm: registry?.freeForm?.enabled ?? false,
    mcps: [],
  })
  const texts = installed.map((skill) => (skill.prompt ? `## Skill: ${skill.name}\n${skill.prompt}` : ''))
  const sections = [text, ...texts, prompt?.ending ?? ''].filter((section) => section !== '')
  return { text: sections.join('\n\n'), unknown }
}

/** A rendered prompt, and its unknown placeholders. */
export interface Rendered {
  readonly text: string
  readonly unknown: readonly string[]
}

/** What an agent has, for the placeholders of its system prompt. */
export interface Installed {
  readonly tools: readonly { readonly name: string }[]
  readonly skills: readonly { readonly name: string }[]
  readonly subagents: readonly { readonly name: string; readonly description?: string | undefined }[]
  /** It may launch subagents under any name. */
  readonly isFreeForm: boolean
  /** Names of MCP servers. */
  readonly mcps: readonly string[]
}

export function hasPlaceholder(template: string): boolean {
  return template.includes('${_installed_')
}

/**
 * Fills `${_installed_tools}`, `${_installed_skills}`, `${_installed_subagents}` and `${_installed_mcps}` in one pass.
 * Inserted text is not scanned again, and all other text (`$5`, `$&`, `${HOME}`, an unknown `${_installed_…}`) stays.
 */
export function renderPrompt(template: string, has: Installed): Rendered {
  const unknown = new Set<string>()
  const text = template.replaceAll(/\$\{_installed_[^\s{}]*\}/g, (placeholder) => {
    const lines = linesFor(placeholder, has)
    if (lines === undefined) unknown.add(placeholder)
    return lines === undefined ? placeholder : lines.map((line) => `- ${line}`).join('\n') || '- none'
  })
  return { text, unknown: [...unknown] }
}

function linesFor(placeholder: string, has: Installed): readonly string[] | undefined {
  switch (placeholder) {
    case '${_installed_tools}':
      return namesOf(has.tools)
    case '${_installed_skills}':
      return namesOf(has.skills)
    case '${_installed_subagents}': {
      const known = has.subagents.toSorted((a, b) => byCodePoint(a.name, b.name)).map(listed)
      return has.isFreeForm ? [...known, 'any other name (free-form)'] : known
    }
    case '${_installed_mcps}':
      return has.mcps.toSorted(byCodePoint)
    default:
      return undefined
  }
}

function namesOf(named: readonly { readonly name: string }[]): readonly string[] {
  return named.map(({ name }) => name).toSorted(byCodePoint)
}
