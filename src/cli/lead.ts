import { agent as agentOf, declare, defineComponent, type Initial, SubagentRegistry, type Tool } from '../index.ts'
import { type Config, readConfig } from '../doors/context.ts'
import { querySubagentDeclaration } from '../../systems/index.ts'
import { ToolRegistry } from '../../components/index.ts'
import { z } from 'zod'
import { type Question, questionPrompt } from './question-prompt.ts'
import { leadPrompt, researcherPrompt } from './team-prompts.ts'

/** The folder that an agent is asked about, as an absolute path. */
export const Folder = defineComponent('Folder', z.strictObject({ path: z.string() }))

/** Steps that a question may take: what an answer may cost at most. */
const maxSteps = { lead: 30, researcher: 20 } as const

export interface LeadOptions {
  readonly question: Question
  readonly model: string
  /** An absolute path. */
  readonly folder: string
  /** What the lead and its researchers see the folder through. */
  readonly tools: readonly Tool[]
  /** What keeps its context alive, and within bounds. */
  readonly config: Config
}

/** The components of a lead: an agent that is asked about a folder, and may send researchers into it. */
export function leadParts({ question, model, folder, tools, config }: LeadOptions): Initial[] {
  const researcher = {
    name: 'researcher',
    description: 'reads a part of the folder and tells what it says about a question',
    systemPrompt: researcherPrompt,
    tools: tools.map(({ declaration }) => declaration.name),
    maxSteps: maxSteps.researcher,
    inheritancePolicy: { inheritSystemPrompt: false },
  }
  // It has one turn, and that is the answer: a summary of it would be paid for, and nobody would read it.
  const kept = readConfig({ ...config, archival: { ...config.archival, enabled: false } })
  return [
    ...agentOf({
      model,
      system: leadPrompt,
      messages: questionPrompt(question),
      maxSteps: maxSteps.lead,
      config: kept,
    }),
    ToolRegistry({ tools: [...declare(...tools), querySubagentDeclaration] }),
    SubagentRegistry({ subagents: { researcher }, fork: { enabled: false } }),
    Folder({ path: folder }),
  ]
}
