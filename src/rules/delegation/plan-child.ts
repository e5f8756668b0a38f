import type { BlueprintData } from '../../../components/sessions/blueprint.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import { defaultInheritance, type InheritancePolicy } from '../../protocol/delegation.ts'
import type { LlmData } from '../../../components/agent/llm.ts'
import type { PermissionsData } from '../../../components/agent/tool-registry.ts'
import type { Skill } from '../../../components/agent/skills.ts'
import {
  type FreeForm,
  type SubagentConfig,
  subagentDefaults,
  type SubagentRegistryData,
} from '../../../components/sessions/subagent-registry.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { isPermitted } from './permissions.ts'
import type { DeepReadonly } from '../../world/component.ts'
import { findSkills, findTools, type FoundTools, inheritedSkills, limitSkills, settleTools } from './child-tools.ts'
import { envelopeInstruction } from './envelope.ts'

/** What there is to inherit: an agent's components. */
export interface ParentView {
  readonly llm: LlmData | undefined
  /** Of its system prompt; empty if it has none. */
  readonly template: string
  readonly tools: readonly ToolDeclaration[]
  readonly skills: readonly Skill[]
  readonly permissions: PermissionsData | undefined
  readonly registry: DeepReadonly<SubagentRegistryData> | undefined
  readonly ceiling: BlueprintData['ceiling'] | undefined
  readonly archival?: BlueprintData['archival'] | undefined
  readonly context?: BlueprintData['context'] | undefined
  /** It calls no model without a price. */
  readonly pricedOnly?: true | undefined
  /** No agent below it may run what it may not run. @default false */
  readonly isBelowFork?: boolean
}

export interface ChildRequest {
  readonly config: SubagentConfig
  /** Names of skills besides the config's. */
  readonly loadSkills: readonly string[]
  /** Who names them: a model's bring only tools that its agent may run or `loadableSkills` allows. @default a model */
  readonly loadedBy?: 'program' | undefined
  /** Names of tools denied above it. @default those that the parent's permissions deny */
  readonly denied?: readonly string[] | undefined
  readonly isBackground: boolean
}

/** A subagent's blueprint and what it lacks, or why it cannot be made. */
export type ChildPlan =
  | { readonly ok: true; readonly blueprint: Omit<BlueprintData, 'hash'>; readonly warnings: readonly string[] }
  | {
      readonly ok: false
      readonly code: 'tool-conflict' | 'missing-skill' | 'invalid-argument'
      readonly message: string
    }

/** Plans a subagent from its config and what its policy lets it inherit. */
export function planChild(parent: ParentView, request: ChildRequest, facts: HostFactsData | undefined): ChildPlan {
  const { config, loadSkills, isBackground } = request
  const llm = childLlm(parent.llm, config)
  if (llm === undefined) {
    const message = `Unknown subagent '${config.name}' cannot be created without a parent model`
    return { ok: false, code: 'invalid-argument', message }
  }
  const policy = wholePolicy(config.inheritancePolicy)
  const { template, tools, skills, permissions, registry } = policy.enabled ? parent : bare
  const listed = policy.enabled ? policy.inheritTools : []
  const loadable = request.loadedBy === 'program' ? 'all' : (parent.registry?.loadableSkills ?? [])
  const asked = findSkills({ own: config.skills ?? [], loaded: loadSkills, loadable }, skills, facts)
  const mayRun = (name: string): boolean => isPermitted(name, parent.permissions, parent.ceiling?.allowed)
  const source = { tools, skills, delegates: registry !== undefined, mayRun }
  const wanted = findTools(listed, source, asked, facts)
  const limited = limitSkills(asked, { ...source, tools: parent.tools }, facts)
  const own = { tools: config.tools ?? [], skills: asked.ofHost }
  const settled = settleTools(own, wanted.found, policy.toolConflictPolicy, facts)
  const missing = new Set([...asked.missing, ...wanted.missingSkills])
  const refusal = refusalOf(policy, settled.conflicts, missing)
  if (refusal !== undefined) return refusal
  const blueprint: Omit<BlueprintData, 'hash'> = {
    // How a conversation is kept alive is not a choice of inheritance: it goes down with every session.
    archival: parent.archival,
    context: parent.context,
    ceiling: parent.ceiling,
    ending: isBackground ? envelopeInstruction : undefined,
    hostSkills: asked.ofHost,
    ...(limited.kept.length > 0 && { hostSkillTools: limited.kept }),
    hostTools: settled.hostTools,
    limits: config.limits,
    llm,
    maxSteps: config.maxSteps ?? subagentDefaults.maxSteps,
    permissions: childPermissions(parent, policy.inheritPermissions ? permissions : undefined, request),
    pricedOnly: parent.pricedOnly,
    registry: listed.includes('subagent') ? registry : undefined,
    skills: inheritedSkills(asked.ofParent, skills, settled.inherited, listed),
    template: childTemplate(config.systemPrompt ?? '', policy.inheritSystemPrompt ? template : ''),
    tools: settled.tools,
  }
  const leftOut = [...wanted.leftOut, ...limited.leftOut]
  return { ok: true, blueprint, warnings: [...warningsOf(config.name, leftOut), ...[...missing].map(missingSkill)] }
}

/**
 * A subagent's permissions by config and policy. Its launch adds what is denied above it. A config may grant denied
 * tools by name, unless it inherits the permissions or the parent is below a fork: then only what the parent was
 * granted.
 */
function childPermissions(
  parent: ParentView,
  inherited: PermissionsData | undefined,
  { config, denied = parent.permissions?.denied ?? [] }: ChildRequest,
): PermissionsData | undefined {
  const copied = parent.isBelowFork === true ? parent.permissions : inherited
  const granted = (config.tools ?? []).filter((name) => {
    return denied.includes(name) && (copied === undefined || copied.granted?.includes(name) === true)
  })
  const { granted: _, ...rest } = copied ?? {}
  if (granted.length > 0) return { ...rest, granted }
  return copied?.granted === undefined ? copied : rest
}

/** A parent that passes nothing on. */
const bare = { template: '', tools: [], skills: [], permissions: undefined, registry: undefined }

/** A config's own model has none of the parent's options; the retry policy is never the parent's. */
function childLlm(parent: LlmData | undefined, { model, retry }: SubagentConfig): LlmData | undefined {
  if (model !== undefined) return { model, retry }
  return parent && { ...parent, retry }
}

function wholePolicy(policy: InheritancePolicy | undefined) {
  return {
    enabled: policy?.enabled ?? defaultInheritance.enabled,
    inheritPermissions: policy?.inheritPermissions ?? defaultInheritance.inheritPermissions,
    inheritSystemPrompt: policy?.inheritSystemPrompt ?? defaultInheritance.inheritSystemPrompt,
    inheritTools: policy?.inheritTools ?? defaultInheritance.inheritTools,
    missingSkillPolicy: policy?.missingSkillPolicy ?? defaultInheritance.missingSkillPolicy,
    toolConflictPolicy: policy?.toolConflictPolicy ?? defaultInheritance.toolConflictPolicy,
  }
}

function refusalOf(
  policy: ReturnType<typeof wholePolicy>,
  [conflict]: readonly string[],
  [skill]: Iterable<string>,
): ChildPlan | undefined {
  if (policy.toolConflictPolicy === 'error' && conflict !== undefined) {
    return { ok: false, code: 'tool-conflict', message: `Tool inheritance conflict for '${conflict}'` }
  }
  if (policy.missingSkillPolicy === 'error' && skill !== undefined) {
    return { ok: false, code: 'missing-skill', message: missingSkill(skill) }
  }
  return undefined
}

function missingSkill(name: string): string {
  return `Missing skill '${name}'`
}

function warningsOf(subagent: string, leftOut: FoundTools['leftOut']): readonly string[] {
  return leftOut.map(([tool, reason]) => `Subagent '${subagent}' does not inherit the tool '${tool}': ${reason}`)
}

/** Appended to the prompt if their placeholder is missing. */
const sections = [
  ['## Available Tools', '${_installed_tools}'],
  ['## Available Skills', '${_installed_skills}'],
] as const

/** A subagent's template: its own, what it inherits, and missing sections for tools and skills. */
function childTemplate(own: string, inherited: string): string {
  const template = paragraphs(own, inherited)
  const missing = sections.filter(([, placeholder]) => !template.includes(placeholder))
  return paragraphs(template, ...missing.map((lines) => lines.join('\n')))
}

function paragraphs(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

const builtInTemplate = `You are "{name}", a subagent: another agent has made you for one task, which is the user's message.

- Be the specialist that your name says.
- You know nothing of what went before. What the task does not say, find out with your tools, or state what you assume.
- Nobody answers questions while you work. Carry the task out to its end, and do nothing beyond it.
- Your last message is all that the other agent gets. Put the whole result in it, and say what you could not do.`

/** The config of an unregistered subagent, made for one call: by name, on its parent's model. */
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
