import { byCodePoint } from '../../world/by-code-point.ts'

/** A system prompt with its placeholders filled in, and the placeholders that stand for nothing known. */
export interface Rendered {
  readonly text: string
  readonly unknown: readonly string[]
}

/** What an agent has, for the placeholders of its system prompt. */
export interface Installed {
  readonly tools: readonly { readonly name: string }[]
  readonly skills: readonly { readonly name: string }[]
  readonly subagents: readonly { readonly name: string; readonly description?: string | undefined }[]
  /** It may ask for subagents under names of its own. */
  readonly isFreeForm: boolean
  /** Names of MCP servers. */
  readonly mcps: readonly string[]
}

/** May there be something to fill in? */
export function hasPlaceholder(template: string): boolean {
  return template.includes('${_installed_')
}

/**
 * Fills `${_installed_tools}`, `${_installed_skills}`, `${_installed_subagents}` and `${_installed_mcps}` in, in one pass:
 * what was filled in is not read again, and all other text (`$5`, `$&`, `${HOME}`, an unknown `${_installed_…}`) stays as
 * it is.
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
      const known = has.subagents.toSorted((a, b) => byCodePoint(a.name, b.name)).map(described)
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

function described({ name, description = '' }: Installed['subagents'][number]): string {
  return description === '' ? name : `${name}: ${description}`
}
