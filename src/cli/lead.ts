import { agent as agentOf, declare, defineComponent, type Initial, SubagentRegistry, type Tool } from '../index.ts'
import { type Config, readConfig } from '../doors/context.ts'
import { querySubagentDeclaration, standardSystems } from '../../systems/index.ts'
import * as standardComponents from '../../components/index.ts'
import { z } from 'zod'
import { type Question, questionPrompt } from '../../examples/reader/reader.ts'

export const Folder = defineComponent('Folder', z.strictObject({ path: z.string() }))

export const restoring = { systems: standardSystems(), components: { ...standardComponents, Folder } }

/** Bounds the cost of an answer. */
const maxSteps = { lead: 30, researcher: 20 } as const

const leadPrompt = `You answer a question about the files of a folder, and you have researchers who do the reading. Your tools:
\${_installed_tools}

Work like this:
1. List the files and split them into two to five parts, by folders. Paths count from the folder.
2. In one step, give each part to a researcher: the tool subagent, category "researcher", background true. A researcher
   knows nothing but its prompt: write the whole question into it, and end it with a line like
   Look only in: docs, README.md
3. Then sleep with subagent_wait, mode "all", until they are done.
4. Read what they found: the summaries first (subagent_result, read_method "summary"), and in full where it matters.
5. Ask one of them a further question with query_subagent, about what is still open: it still knows all that it read.
6. Write the report.

The report answers the question, shortly and in plain text. Quote the lines that it rests on word for word, each group
of lines as
path:first-last
> the lines
If the files do not answer the question, say so, and say where was looked. A part whose researcher failed you may read
yourself, or say that it is missing.`

/** The engine appends the form of the result. */
const researcherPrompt = `You look into a part of a folder for an answer to a question. You see it through these tools alone:
\${_installed_tools}

Look before you answer: list the files of your part, search them for the words that matter, and read around what you
find. Paths count from the folder. Several calls in one step run side by side.

Tell what your part says about the question, shortly and in plain text. Quote the lines that matter word for word, each
group of lines as
path:first-last
> the lines
If your part does not answer the question, say so. You may be asked further questions later.`

export interface LeadOptions {
  readonly question: Question
  readonly model: string
  readonly folder: string
  readonly tools: readonly Tool[]
  readonly config: Config
}

/** A lead that answers a question about a folder and may delegate to researchers. */
export function leadParts({ question, model, folder, tools, config }: LeadOptions): Initial[] {
  const researcher = {
    name: 'researcher',
    description: 'reads a part of the folder and reports what it says about a question',
    systemPrompt: researcherPrompt,
    tools: tools.map(({ declaration }) => declaration.name),
    maxSteps: maxSteps.researcher,
    inheritancePolicy: { inheritSystemPrompt: false },
  }
  // It has a single turn: a summary of it would cost money and be read by no one.
  const kept = readConfig({ ...config, archival: { ...config.archival, enabled: false } })
  return [
    ...agentOf({
      model,
      system: leadPrompt,
      messages: questionPrompt(question),
      maxSteps: maxSteps.lead,
      config: kept,
    }),
    standardComponents.ToolRegistry({ tools: [...declare(...tools), querySubagentDeclaration] }),
    SubagentRegistry({ subagents: { researcher }, fork: { enabled: false } }),
    Folder({ path: folder }),
  ]
}
