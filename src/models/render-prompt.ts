interface Registry {
  readonly tools: readonly { readonly name: string }[]
}

/** A system prompt with its placeholders filled in, and the placeholders that stand for nothing known. */
export interface Rendered {
  readonly text: string
  readonly unknown: readonly string[]
}

const noRegistry: Registry = { tools: [] }
const rendered = new WeakMap<object, { readonly registry: Registry; readonly result: Rendered }>()

/**
 * Fills `${_installed_tools}` in, in one pass: what was filled in is not read again, and all other text (`$5`, `$&`,
 * `${HOME}`, an unknown `${_installed_…}`) stays as it is.
 */
export function renderPrompt(prompt: { readonly template: string }, registry: Registry = noRegistry): Rendered {
  const known = rendered.get(prompt)
  if (known?.registry === registry) return known.result
  const unknown = new Set<string>()
  const text = prompt.template.replaceAll(/\$\{_installed_[a-z_]+\}/g, (placeholder) => {
    if (placeholder === '${_installed_tools}') return listed(registry.tools.map((tool) => tool.name))
    unknown.add(placeholder)
    return placeholder
  })
  const result = { text, unknown: [...unknown] }
  rendered.set(prompt, { registry, result })
  return result
}

/** Lines `- name` in code-point order. */
function listed(names: readonly string[]): string {
  return names.length === 0 ? '- none' : names.toSorted(byCodePoint).map((name) => `- ${name}`).join('\n')
}

function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
