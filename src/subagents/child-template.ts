const sections = [
  ['## Available Tools', '${_installed_tools}'],
  ['## Available Skills', '${_installed_skills}'],
] as const

/**
 * The template of a subagent's system prompt: its own, then what it inherits, then a section for its tools and one for its
 * skills where nothing else lists them. What is empty stands aside.
 */
export function childTemplate(own: string, inherited: string): string {
  const template = paragraphs(own, inherited)
  const missing = sections.filter(([, placeholder]) => !template.includes(placeholder))
  return paragraphs(template, ...missing.map((lines) => lines.join('\n')))
}

function paragraphs(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}
