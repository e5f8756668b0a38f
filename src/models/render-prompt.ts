/** A system prompt with its placeholders filled in, and the placeholders that stand for nothing known. */
export interface Rendered {
  readonly text: string
  readonly unknown: readonly string[]
}

export function hasPlaceholder(template: string): boolean {
  return template.includes('${_installed_')
}

/**
 * Fills `${_installed_tools}` in, in one pass: what was filled in is not read again, and all other text (`$5`, `$&`,
 * `${HOME}`, an unknown `${_installed_…}`) stays as it is.
 */
export function renderPrompt(template: string, tools: readonly { readonly name: string }[]): Rendered {
  const unknown = new Set<string>()
  const text = template.replaceAll(/\$\{_installed_[a-z_]+\}/g, (placeholder) => {
    if (placeholder === '${_installed_tools}') return listed(tools.map((tool) => tool.name))
    unknown.add(placeholder)
    return placeholder
  })
  return { text, unknown: [...unknown] }
}

/** Lines `- name` in code-point order. */
function listed(names: readonly string[]): string {
  return names.length === 0
    ? '- none'
    : names
        .toSorted(byCodePoint)
        .map((name) => `- ${name}`)
        .join('\n')
}

function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
