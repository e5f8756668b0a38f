import type { FreeForm, SubagentConfig } from '../../../components/sessions/subagent-registry.ts'

const builtInTemplate = `You are "{name}", a subagent: another agent has made you for one task, which is the user's message.

- Be the specialist that your name says.
- You know nothing of what went before. What the task does not say, find out with your tools, or state what you assume.
- Nobody answers questions while you work. Carry the task out to its end, and do nothing beyond it.
- Your last message is all that the other agent gets. Put the whole result in it, and say what you could not do.`

/** The config of a subagent that stands in no registry, made for one call: by that name, on its parent's model. */
export function freeFormConfig(name: string, freeForm: FreeForm): SubagentConfig {
  const { systemPromptTemplate = builtInTemplate, skills, maxSteps, inheritancePolicy } = freeForm
  return {
    name,
    // A function, since a text would be searched for `$&` and its like. A name brings no placeholder into the template.
    systemPrompt: systemPromptTemplate.replaceAll('{name}', () => name.replaceAll('${_installed_', '$\\{_installed_')),
    skills,
    maxSteps,
    inheritancePolicy,
  }
}
